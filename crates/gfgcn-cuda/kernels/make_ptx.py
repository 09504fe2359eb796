#!/usr/bin/env python3
"""Compiles the kernels beside this file to PTX, which is committed: nobody needs CUDA to build gfgcn.

    pip install nvidia-cuda-nvrtc-cu12==12.1.105
    python3 make_ptx.py

The version decides which drivers can read the result: 12.1 writes PTX 8.1, for drivers since CUDA 12.1. The target is the
oldest architecture that the kernels run on; drivers compile for the GPU that is there and keep the outcome.
"""

import ctypes
import glob
import hashlib
import pathlib
import site
import sys

HERE = pathlib.Path(__file__).parent
TARGET = b"compute_70"
OPTIONS = [b"--gpu-architecture=" + TARGET, b"--std=c++14"]
# The bits of the processor, which does not fuse.
UNFUSED = {"propagate.cu"}


def library() -> ctypes.CDLL:
    folders = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    found = [name for folder in folders for name in glob.glob(f"{folder}/nvidia/cuda_nvrtc/lib/libnvrtc.so*")]
    if not found:
        sys.exit("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12==12.1.105")
    return ctypes.CDLL(found[0])


def compile_ptx(nvrtc: ctypes.CDLL, name: str, source: bytes) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()

    def call(function, *arguments):
        status = getattr(nvrtc, function)(*arguments)
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"{name}: {function} failed with {status}\n{log.value.decode()}")

    call("nvrtcCreateProgram", ctypes.byref(program), source, name.encode(), 0, None, None)
    chosen = [*OPTIONS, b"--fmad=false" if name in UNFUSED else b"--fmad=true"]
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
        ptx = compile_ptx(nvrtc, path.name, source)
        header = f"// Made from {path.name} by make_ptx.py; SHA-256 of the source:\n// {digest}\n"
        path.with_suffix(".ptx").write_bytes(header.encode() + ptx)
        print(f"{path.name}: {len(ptx)} bytes of PTX")


if __name__ == "__main__":
    main()
