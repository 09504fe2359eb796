// Ridge systems: gathering training rows, and Cholesky factors of S + ξI for many penalties side by side.
//
// Matrices are row-major and their size is a multiple of TILE. Large products are left to cuBLAS; what is here are the
// pieces between them.

typedef unsigned long long u64;
typedef unsigned int u32;

#define TILE 32

// f[i][first + j] = scale · rows[positions[i]][j].
extern "C" __global__ void gather(
    const float* rows, const u32* positions, double scale, double* f, u32 columns, u32 first, u32 stride, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    u64 i = k / columns;
    u32 j = k % columns;
    f[i * stride + first + j] = scale * (double)rows[(u64)positions[i] * columns + j];
}

// f[i][j] = root[i] · (f[i][j] − means[j]); roots and means may be missing.
extern "C" __global__ void centre(
    double* f, const double* means, const double* roots, u32 columns, u32 stride, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    u64 i = k / columns;
    u32 j = k % columns;
    double value = f[i * stride + j] - (means ? means[j] : 0.0);
    f[i * stride + j] = (roots ? roots[i] : 1.0) * value;
}

// Copies `columns` columns into rows that are longer; what is beyond stays.
extern "C" __global__ void pad(const double* from, double* to, u32 columns, u32 stride, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries) to[k / columns * stride + k % columns] = from[k];
}

extern "C" __global__ void diagonal(const double* s, double* out, u32 size, u32 count) {
    u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) out[k] = s[(u64)k * size + k];
}

// One copy of S for each penalty, ξ added to the diagonal, 1 beyond the first `count` rows; behind it the right sides, as
// rows. The inverse begins as zeros.
extern "C" __global__ void shift(
    const double* s, const double* penalties, const double* right, double* shifted, double* inverse, u32 size, u32 count,
    u32 columns) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 entries = (u64)size * size, all = entries + (u64)columns * size;
    if (k >= all) return;
    u64 i = k / size;
    u32 j = k % size;
    double value = i < size ? s[k] : right[(u64)j * columns + (i - size)];
    if (i == j) value = i < count ? value + penalties[blockIdx.y] : 1.0;
    shifted[blockIdx.y * all + k] = value;
    if (i < size) inverse[blockIdx.y * entries + k] = 0.0;
}

// Pivots below this are none: their roots would not be normal numbers.
#define LEAST_PIVOT 1e-300

// 1 / √x of an ordinary number, without the branches that others take: what the GPU has of it, and two steps of Newton's.
__device__ __forceinline__ double reciprocal_root(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(0.5 * y, fma(-x * y, y, 1.0), y);
    return fma(0.5 * y, fma(-x * y, y, 1.0), y);
}

// The inverse of the factor of a tile on the diagonal, in rows of `stride`, by one warp; it goes to shared memory. Returns the
// first pivot that is not positive, or TILE.
//
// Lane i has row i of the tile and column i of the inverse in its registers, of which step j takes the first entry away: what
// is left moves up. So every step is the same code, which stays in the cache; entries behind the end are meaningless.
__device__ __forceinline__ u32 factor_tile(const double* a, u32 stride, double inverse[TILE][TILE + 1]) {
    // Column j of L from its diagonal on, for two steps in turn.
    __shared__ __align__(16) double columns[2][TILE];
    u32 lane = threadIdx.x, failed = TILE;
    double row[TILE], x[TILE];
    #pragma unroll
    for (int i = 0; i < TILE; i++) row[i] = a[(u64)lane * stride + i], x[i] = lane == i ? 1.0 : 0.0;
    double pivot = __shfl_sync(0xffffffffu, row[0], 0), root = reciprocal_root(pivot);
    // A quarter of the entries is gone after every eight steps.
    #pragma unroll
    for (int gone = 0; gone < TILE; gone += 8) {
        #pragma unroll 1
        for (u32 j = gone; j < gone + 8; j++) {
            double* column = columns[j & 1];
            if (!(pivot > LEAST_PIVOT) && failed == TILE) failed = j;
            double own = row[0] * root, solved = x[0] * root;
            column[(lane - j) % TILE] = own;
            inverse[j][lane] = solved;
            __syncwarp();
            // The next pivot first: everything waits for it.
            pivot = __shfl_sync(0xffffffffu, row[1] - own * own, (j + 1) % TILE);
            root = reciprocal_root(pivot);
            #pragma unroll
            for (int i = 1; i < TILE - gone; i++) {
                double other = column[i];
                row[i - 1] = row[i] - own * other;
                x[i - 1] = x[i] - other * solved;
            }
        }
    }
    __syncwarp();
    if (failed < TILE) {
        for (int i = 0; i < TILE; i++) inverse[i][lane] = 0.0;
    }
    __syncwarp();
    return failed;
}

// A column of tiles: the inverse of the one on the diagonal, and L = A D⁻ᵀ below it. Every block factors the diagonal for
// itself, which is faster than waiting for another launch. There may be more rows than columns: right sides, for which this is
// the forward substitution. blockIdx.y: the matrix; blockIdx.x: ROWS rows below the diagonal.
#define ROWS 64
extern "C" __global__ void __launch_bounds__(128) panel(
    double* shifted, double* inverse, u32* failed, u32 size, u32 height, u32 first) {
    __shared__ double d[TILE][TILE + 1];
    __shared__ double rows[ROWS][TILE + 1];
    u64 matrix = (u64)blockIdx.y * size * size;
    double* a = shifted + (u64)blockIdx.y * size * height;
    u32 below = first + TILE + blockIdx.x * ROWS;
    for (u32 k = threadIdx.x; k < ROWS * TILE; k += blockDim.x) {
        u32 i = k / TILE, j = k % TILE;
        rows[i][j] = below + i < height ? a[(u64)(below + i) * size + first + j] : 0.0;
    }
    if (threadIdx.x < 32) {
        u32 pivot = factor_tile(a + (u64)first * size + first, size, d);
        if (pivot < TILE && threadIdx.x == 0 && blockIdx.x == 0 && failed[blockIdx.y] == 0)
            failed[blockIdx.y] = first + pivot + 1;
    }
    __syncthreads();
    if (blockIdx.x == 0) {
        for (u32 k = threadIdx.x; k < TILE * TILE; k += blockDim.x)
            inverse[matrix + (u64)(first + k / TILE) * size + first + k % TILE] = d[k / TILE][k % TILE];
    }
    // Four by four entries for each of the 128 threads.
    u32 column = threadIdx.x % 8, row = threadIdx.x / 8;
    double sum[4][4] = {};
    #pragma unroll 8
    for (int j = 0; j < TILE; j++) {
        double left[4], right[4];
        #pragma unroll
        for (int k = 0; k < 4; k++) left[k] = rows[row + 16 * k][j], right[k] = d[column + 8 * k][j];
        #pragma unroll
        for (int r = 0; r < 4; r++) {
            #pragma unroll
            for (int c = 0; c < 4; c++) sum[r][c] += left[r] * right[c];
        }
    }
    #pragma unroll
    for (int r = 0; r < 4; r++) {
        u32 i = below + row + 16 * r;
        if (i >= height) continue;
        #pragma unroll
        for (int c = 0; c < 4; c++) a[(u64)i * size + first + column + 8 * c] = sum[r][c];
    }
}

// Lᵀ X = Y for a few columns, tile by tile from the last one: X_k = D_kᵀ (Y_k − Σ_{i>k} L_ikᵀ X_i). One block per matrix, all
// columns at once; y has its columns as rows of `size`, behind those of L, and so has x.
#define WARPS 32
#define FEW 16
extern "C" __global__ void __launch_bounds__(32 * WARPS) back_substitute(
    const double* shifted, const double* inverse, double* x, u32 size, u32 columns, u64 stride) {
    __shared__ double sums[WARPS][TILE + 1], right[FEW][TILE];
    const double* l = shifted + (u64)blockIdx.x * stride;
    const double* d = inverse + (u64)blockIdx.x * size * size;
    const double* y = l + (u64)size * size;
    double* out = x + (u64)blockIdx.x * columns * size;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int first = (int)size - TILE; first >= 0; first -= TILE) {
        double sum[FEW] = {};
        for (u32 i = first + TILE + warp; i < size; i += WARPS) {
            double entry = l[(u64)i * size + first + lane];
            #pragma unroll
            for (int c = 0; c < FEW; c++) {
                if (c < columns) sum[c] += entry * out[(u64)c * size + i];
            }
        }
        #pragma unroll
        for (int c = 0; c < FEW; c++) {
            if (c >= columns) break;
            sums[warp][lane] = sum[c];
            __syncthreads();
            // Warp w adds up what all warps have of entry w.
            double total = sums[lane][warp];
            for (int half = 16; half > 0; half /= 2) total += __shfl_xor_sync(0xffffffffu, total, half);
            if (lane == 0) right[c][warp] = y[(u64)c * size + first + warp] - total;
            __syncthreads();
        }
        if (warp < columns) {
            double value = 0.0;
            for (u32 k = lane; k < TILE; k++) value += d[(u64)(first + k) * size + first + lane] * right[warp][k];
            out[(u64)warp * size + first + lane] = value;
        }
        __syncthreads();
    }
}

// The sum of a value over the lanes of a warp, which all of them get.
__device__ __forceinline__ double over_lanes(double value) {
    for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
    return value;
}

// sum += a bᵀ for tiles in shared memory: two by two entries for each of 256 threads.
__device__ __forceinline__ void tile_product(
    const double a[TILE][TILE + 1], const double b[TILE][TILE + 1], double sum[2][2]) {
    u32 column = threadIdx.x % 16, row = threadIdx.x / 16;
    #pragma unroll 8
    for (int k = 0; k < TILE; k++) {
        double left[2] = {a[row][k], a[row + 16][k]}, right[2] = {b[column][k], b[column + 16][k]};
        #pragma unroll
        for (int r = 0; r < 2; r++) {
            #pragma unroll
            for (int c = 0; c < 2; c++) sum[r][c] += left[r] * right[c];
        }
    }
}

__device__ __forceinline__ void store_tile(const double sum[2][2], double tile[TILE][TILE + 1]) {
    u32 column = threadIdx.x % 16, row = threadIdx.x / 16;
    #pragma unroll
    for (int r = 0; r < 2; r++) {
        #pragma unroll
        for (int c = 0; c < 2; c++) tile[row + 16 * r][column + 16 * c] = sum[r][c];
    }
}

// Systems whose tiles the GPU works on all at once: one launch per column of tiles, which takes away from every tile what that
// column is accountable for. A block makes the tiles of L that it needs by itself, which is faster than waiting for them, and
// the one with the next tile on the diagonal factors it right away.
//
// `all` has, for each matrix, the rows of S + ξI and behind them the right sides B as rows. In the end the inverse of its factor D
// stands in the place of each tile on the diagonal, Lᵀ above the diagonal, and what is left of the right sides behind them: R
// with L⁻¹ B = D⁻¹ R. Step 0 reads S and B, step k takes column k − 1 away. blockIdx.y: the matrix; blockIdx.x: the tiles on and
// below the diagonal that are left, column by column, each with the tile of its right sides. failed[matrix]: the first pivot
// that was not positive, plus 1.
extern "C" __global__ void __launch_bounds__(256) eliminate(
    const double* s, const double* right, const double* penalties, double* all, double* failed, u32 size, u32 count,
    u32 columns, u32 step) {
    __shared__ double tile[TILE][TILE + 1], left[TILE][TILE + 1], other[TILE][TILE + 1];
    u32 height = size + columns, last = size / TILE;
    double* a = all + (u64)blockIdx.y * size * height;
    u32 j = step, before = blockIdx.x;
    while (before > last - j) before -= last + 1 - j++;
    u32 i = j + before;
    u32 rows = i == last ? columns : TILE;
    for (u32 k = threadIdx.x; k < TILE * TILE; k += blockDim.x) {
        u32 r = k / TILE, c = k % TILE;
        u64 y = i * TILE + r, x = j * TILE + c;
        double value = 0.0;
        if (step > 0) {
            if (r < rows) value = a[y * size + x];
        } else if (i < last) {
            value = s[y * size + x];
            if (y == x) value = y < count ? value + penalties[blockIdx.y] : 1.0;
        } else if (r < rows) {
            value = right[x * columns + r];
        }
        tile[r][c] = value;
    }
    if (step > 0) {
        __shared__ double inverse[TILE][TILE + 1];
        u32 first = (step - 1) * TILE;
        for (u32 k = threadIdx.x; k < TILE * TILE; k += blockDim.x) {
            u32 r = k / TILE, c = k % TILE;
            inverse[r][c] = a[(u64)(first + r) * size + first + c];
            left[r][c] = r < rows ? a[(u64)(i * TILE + r) * size + first + c] : 0.0;
            if (i != j) other[r][c] = a[(u64)(j * TILE + r) * size + first + c];
        }
        __syncthreads();
        double mine[2][2] = {}, its[2][2] = {}, taken[2][2] = {};
        tile_product(left, inverse, mine);
        if (i != j) tile_product(other, inverse, its);
        __syncthreads();
        store_tile(mine, left);
        if (i != j) store_tile(its, other);
        __syncthreads();
        tile_product(left, i == j ? left : other, taken);
        u32 column = threadIdx.x % 16, row = threadIdx.x / 16;
        #pragma unroll
        for (int r = 0; r < 2; r++) {
            #pragma unroll
            for (int c = 0; c < 2; c++) tile[row + 16 * r][column + 16 * c] -= taken[r][c];
        }
        if (i == j) {
            for (u32 k = threadIdx.x; k < TILE * TILE; k += blockDim.x)
                a[(u64)(first + k / TILE) * size + i * TILE + k % TILE] = left[k % TILE][k / TILE];
        }
    }
    __syncthreads();
    bool next = i == step && j == step;
    if (next && threadIdx.x < 32) {
        u32 pivot = factor_tile(&tile[0][0], TILE + 1, other);
        if (threadIdx.x == 0) {
            double found = pivot < TILE ? (double)(step * TILE + pivot + 1) : 0.0;
            if (step == 0 || failed[blockIdx.y] == 0.0) failed[blockIdx.y] = found;
        }
    }
    __syncthreads();
    for (u32 k = threadIdx.x; k < rows * TILE; k += blockDim.x) {
        u32 r = k / TILE, c = k % TILE;
        a[(u64)(i * TILE + r) * size + j * TILE + c] = next ? other[r][c] : tile[r][c];
    }
}

// Lᵀ X = D⁻¹ R behind `eliminate`, tile by tile from the last one, for systems of up to MOST rows; x has its columns as rows of
// `size`. Warp w has row w of each tile. blockIdx.y: the matrix; blockIdx.x: the column.
#define MOST 1024
extern "C" __global__ void __launch_bounds__(32 * WARPS) substitute(const double* all, double* x, u32 size, u32 columns) {
    __shared__ double found[MOST], d[TILE][TILE + 1], right[TILE];
    const double* a = all + (u64)blockIdx.y * size * (size + columns);
    const double* r = a + (u64)(size + blockIdx.x) * size;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int first = (int)size - TILE; first >= 0; first -= TILE) {
        const double* row = a + (u64)(first + warp) * size;
        double inverse = row[first + lane], sum = inverse * r[first + lane];
        d[warp][lane] = inverse;
        // Eight entries are on their way at a time, also at the end of the row.
        for (u32 begin = first + TILE + lane; begin < size; begin += 8 * TILE) {
            double entries[8];
            #pragma unroll
            for (int k = 0; k < 8; k++) entries[k] = begin + k * TILE < size ? row[begin + k * TILE] : 0.0;
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                if (begin + k * TILE < size) sum -= entries[k] * found[begin + k * TILE];
            }
        }
        sum = over_lanes(sum);
        if (lane == 0) right[warp] = sum;
        __syncthreads();
        sum = over_lanes(d[lane][warp] * right[lane]);
        if (lane == 0) found[first + warp] = sum;
        __syncthreads();
    }
    double* out = x + ((u64)blockIdx.y * columns + blockIdx.x) * size;
    for (u32 k = threadIdx.x; k < size; k += blockDim.x) out[k] = found[k];
}

// s = Σ_k parts[k], in the order of k.
extern "C" __global__ void add_parts(const double* parts, double* s, u32 count, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    double sum = 0.0;
    for (u32 part = 0; part < count; part++) sum += parts[part * entries + k];
    s[k] = sum;
}
