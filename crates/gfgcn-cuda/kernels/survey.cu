// What has to be known about features before they are used: how many are not zero, and whether all are finite.

typedef unsigned long long u64;

// found[0] counts the entries that are not zero, found[1] becomes the position of the first that is not finite. Both are whole
// numbers, so the order in which threads come does not matter.
extern "C" __global__ void survey(const float* values, u64 entries, u64* found) {
    u64 stride = (u64)gridDim.x * blockDim.x;
    u64 nonzeros = 0, first = ~0ull;
    for (u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x; k < entries; k += stride) {
        float value = values[k];
        nonzeros += value != 0.0f;
        if (!isfinite(value) && k < first) first = k;
    }
    for (int offset = 16; offset; offset >>= 1) {
        nonzeros += __shfl_down_sync(0xffffffffu, nonzeros, offset);
        first = min(first, __shfl_down_sync(0xffffffffu, first, offset));
    }
    if ((threadIdx.x & 31) == 0) {
        if (nonzeros) atomicAdd(found, nonzeros);
        if (first != ~0ull) atomicMin(found + 1, first);
    }
}
