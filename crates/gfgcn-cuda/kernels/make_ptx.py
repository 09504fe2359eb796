#!/usr/bin/env python3
"""Compiles the kernels beside this file to PTX, which is committed: nobody needs CUDA to build gfgcn.

    pip install nvidia-cuda-nvrtc-cu12==12.1.105
    python3 make_ptx.py

The version decides which drivers can read the result: 12.1 writes PTX 8.1, for drivers since CUDA 12.1. The target is the
oldest architecture that the kernels run on; drivers compile for the GPU that is there and keep the outcome. Sums over
neighbours are also compiled for GPUs that can be told what to keep in their cache.
"""

import ctypes
import glob
import hashlib
import pathlib
import site
import sys

HERE = pathlib.Path(__file__).parent
TARGETS = {"left_out.cu": ("70",), "propagate.cu": ("70", "80"), "ridge.cu": ("70",), "survey.cu": ("70",)}
# The bits of the processor, which does not fuse.
UNFUSED = {"propagate.cu"}


def library() -> ctypes.CDLL:
    folders = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    found = [name for folder in folders for name in glob.glob(f"{folder}/nvidia/cuda_nvrtc/lib/libnvrtc.so*")]
    if not found:
        sys.exit("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12==12.1.105")
    return ctypes.CDLL(found[0])


def compile_ptx(nvrtc: ctypes.CDLL, name: str, source: bytes, target: str) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()

    def call(function, *arguments):
        status = getattr(nvrtc, function)(*arguments)
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"{name}: {function} failed with {status}\n{log.value.decode()}")

    call("nvrtcCreateProgram", ctypes.byref(program), source, name.encode(), 0, None, None)
    fused = "false" if name in UNFUSED else "true"
    chosen = [f"--gpu-architecture=compute_{target}".encode(), b"--std=c++14", f"--fmad={fused}".encode()]
    call("nvrtcCompileProgram", program, len(chosen), (ctypes.c_char_p * len(chosen))(*chosen))
    call("nvrtcGetPTXSize", program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    call("nvrtcGetPTX", program, text)
    return text.value


def main() -> None:
    nvrtc = library()
    for path in sorted(HERE.glob("*.cu")):
        source = path.read_bytes()
        digest = hashlib.sha256(source).hexdigest()
        header = f"// Made from {path.name} by make_ptx.py; SHA-256 of the source:\n// {digest}\n"
        for target in TARGETS[path.name]:
            ptx = compile_ptx(nvrtc, path.name, source, target)
            path.with_name(f"{path.stem}_{target}.ptx").write_bytes(header.encode() + ptx)
            print(f"{path.name}, {target}: {len(ptx)} bytes of PTX")


if __name__ == "__main__":
    main()
