// Left-out predictions: leverages of training nodes, and how well predictions that follow from them fit.

typedef unsigned long long u64;
typedef unsigned int u32;

// q[matrix][i] += Σ_k t[matrix][i][k]², one warp per row, lanes added up in a fixed order.
extern "C" __global__ void row_squares(const double* t, double* q, u32 columns, u32 rows, u64 stride, u32 first) {
    u32 i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x & 31;
    if (i >= rows) return;
    const double* row = t + (u64)blockIdx.y * rows * columns + (u64)i * columns;
    double sum = 0.0;
    for (u32 k = lane; k < columns; k += 32) sum += row[k] * row[k];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (lane == 0) q[blockIdx.y * stride + first + i] += sum;
}

// q[matrix][i] = Σ_k inverse[matrix][k][i]²: entry (i, i) of (S + ξI)⁻¹.
extern "C" __global__ void column_squares(const double* inverse, double* q, u32 size, u32 count) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const double* m = inverse + (u64)blockIdx.y * size * size;
    double sum = 0.0;
    for (u32 k = i; k < size; k++) sum += m[(u64)k * size + i] * m[(u64)k * size + i];
    q[(u64)blockIdx.y * count + i] = sum;
}

#define THREADS 128
#define EACH 8

// Sums a value over a block of THREADS threads, in a fixed order; thread 0 gets it.
__device__ __forceinline__ double over_block(double value, double* warps) {
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffffu, value, half);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.0;
    for (int warp = 0; warp < THREADS / 32; warp++) sum += warps[warp];
    return sum;
}

// Judges the left-out predictions of some nodes, `first` and those behind it, on the primal side, as `ridge/left_out.rs` has
// them. Fits and forms are those of these nodes, penalties × nodes; targets are √w Y of all nodes. Classes are missing where
// nodes have values, means without an intercept, roots √w where all nodes count alike; `total` is Σ w. A prediction below that of
// `zeros`, or that times `growth` / (1 − leverage) / √w, is 0. One column stands for two classes by its sign, several by the largest, the first of equals.
//
// parts[penalty][block]: nodes whose class is right, then for each column Σ w d², Σ d², Σ |d| of the differences d.
// blockIdx.y: the penalty; blockIdx.x: THREADS · EACH nodes.
extern "C" __global__ void __launch_bounds__(THREADS) judge(
    const double* fitted, const double* forms, const double* targets, const u32* classes, const double* means,
    const double* roots, const double* zeros, double* parts, double total, double growth, u64 first, u32 columns, u32 count) {
    __shared__ double warps[THREADS / 32];
    u32 base = blockIdx.x * THREADS * EACH + threadIdx.x;
    u64 penalty = blockIdx.y;
    double* out = parts + (penalty * gridDim.x + blockIdx.x) * (1 + 3 * columns);
    double root[EACH], rest[EACH], best[EACH];
    u32 guess[EACH];
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        u32 i = base + k * THREADS;
        root[k] = 1.0, rest[k] = 1.0, best[k] = 0.0, guess[k] = 0;
        if (i >= count) continue;
        if (roots) root[k] = roots[first + i];
        double leverage = forms[penalty * count + i] + (means ? root[k] * root[k] / total : 0.0);
        rest[k] = 1.0 - leverage;
    }
    for (u32 t = 0; t < columns; t++) {
        double mean = means ? means[t] : 0.0, zero = zeros[t];
        double weighted = 0.0, squared = 0.0, absolute = 0.0;
        #pragma unroll
        for (int k = 0; k < EACH; k++) {
            u32 i = base + k * THREADS;
            if (i >= count) continue;
            double target = targets[(first + i) * columns + t] / root[k];
            double fit = fitted[(penalty * count + i) * columns + t];
            double residual = (root[k] * (target - mean) - fit) / rest[k];
            double prediction = target - residual / root[k];
            if (fabs(prediction) < zero * fmax(1.0, growth / fabs(rest[k] * root[k]))) prediction = 0.0;
            if (columns == 1) {
                guess[k] = prediction > 0.0;
            } else if (t == 0 || prediction > best[k]) {
                guess[k] = t, best[k] = prediction;
            }
            double error = prediction - target;
            weighted += root[k] * root[k] * error * error;
            squared += error * error;
            absolute += fabs(error);
        }
        weighted = over_block(weighted, warps);
        squared = over_block(squared, warps);
        absolute = over_block(absolute, warps);
        if (threadIdx.x == 0) out[1 + 3 * t] = weighted, out[2 + 3 * t] = squared, out[3 + 3 * t] = absolute;
    }
    double right = 0.0;
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        u32 i = base + k * THREADS;
        if (classes && i < count && classes[first + i] == guess[k]) right += 1.0;
    }
    right = over_block(right, warps);
    if (threadIdx.x == 0) out[0] = right;
}

// totals[penalty][entry] += Σ_block parts[penalty][block][entry], in the order of the blocks.
extern "C" __global__ void add_judged(const double* parts, double* totals, u32 blocks, u32 entries, u32 count) {
    u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const double* own = parts + (u64)(k / entries) * blocks * entries + k % entries;
    double sum = totals[k];
    for (u32 block = 0; block < blocks; block++) sum += own[(u64)block * entries];
    totals[k] = sum;
}
