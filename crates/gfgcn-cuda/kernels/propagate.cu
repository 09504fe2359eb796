// Sums over neighbours, and what goes before and after them.
//
// A block of columns is row-major: `stride` entries per node, a multiple of four floats or two doubles, so that a thread
// moves sixteen bytes at a time. Every number is computed by one thread in a fixed order, with no multiplication fused with
// an addition: these are the bits of the processor, but for rows so long that they are divided.

typedef unsigned long long u64;
typedef unsigned int u32;

// Long rows are added up in blocks of so many neighbours, each in groups, and the blocks in double precision: a chain of a
// million single-precision additions drifts by a percent. The same sums as on the processor, in the same order.
#define BLOCK_OF_ROW 64
// Rows that are on their way at a time, and that a group of a block has.
#define AT_ONCE 8
// The bit of a neighbour's number that says that many rows need it.
#define HOT 0x80000000u

template <typename T> struct Vector;
template <> struct Vector<float> { typedef float4 Type; static const int LANES = 4; };
template <> struct Vector<double> { typedef double2 Type; static const int LANES = 2; };

template <typename T> struct Pack { T v[16 / sizeof(T)]; };

template <typename T> __device__ __forceinline__ Pack<T> load(const T* from) {
    typename Vector<T>::Type raw = __ldg(reinterpret_cast<const typename Vector<T>::Type*>(from));
    return *reinterpret_cast<Pack<T>*>(&raw);
}

// How long rows stay in the cache: those that many others need for longer, where not all fit. Older GPUs have no say.
struct Stay {
#if __CUDA_ARCH__ >= 800
    u64 hot, cold;
    __device__ __forceinline__ explicit Stay(u32 crowded) {
        u64 first, normal;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(hot));
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
        asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
        cold = crowded ? first : normal;
        hot = crowded ? hot : normal;
    }
#else
    __device__ __forceinline__ explicit Stay(u32) {}
#endif
};

// A row of x that a neighbour's number leads to.
template <typename T> __device__ __forceinline__ Pack<T> load_row(
    const T* x, u32 neighbour, u32 stride, u32 column, const Stay& stay) {
    const T* from = x + (u64)(neighbour & ~HOT) * stride + column;
#if __CUDA_ARCH__ >= 800
    uint4 raw;
    u64 policy = neighbour & HOT ? stay.hot : stay.cold;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w) : "l"(from), "l"(policy));
    return *reinterpret_cast<Pack<T>*>(&raw);
#else
    return load(from);
#endif
}

// Where not all fit into the cache, what is written does not stay there: it is read when everything else has passed.
template <typename T> __device__ __forceinline__ void store(T* to, const Pack<T>& pack, u32 crowded) {
    typedef typename Vector<T>::Type Raw;
    Raw raw = *reinterpret_cast<const Raw*>(&pack);
    if (crowded)
        __stcs(reinterpret_cast<Raw*>(to), raw);
    else
        *reinterpret_cast<Raw*>(to) = raw;
}

template <typename T> __device__ __forceinline__ void add(Pack<T>& sum, T factor, const Pack<T>& x) {
    #pragma unroll
    for (int l = 0; l < Vector<T>::LANES; l++) sum.v[l] += factor * x.v[l];
}

// The threads of a block have `width` vectors of sixteen bytes of a row each, as many rows as fit: none is idle whatever the
// number of columns, and what they share, the number of a neighbour, comes from the nearest cache. blockIdx.y: the vectors.
struct Place {
    u32 item, column;
    __device__ __forceinline__ Place(u32 width, int lanes) {
        u32 local = threadIdx.x / width;
        item = blockIdx.x * (blockDim.x / width) + local;
        column = (blockIdx.y * width + threadIdx.x - local * width) * lanes;
    }
};

// Adds AT_ONCE neighbours from a position on, one after the other. All are on their way before the first is added.
template <typename T, bool WEIGHTED> __device__ __forceinline__ void add_some(
    const u32* __restrict__ neighbours, const float* __restrict__ weights, const T* __restrict__ x, u64 at, u32 stride,
    u32 column, const Stay& stay, Pack<T>& sum) {
    u32 node[AT_ONCE];
    T factor[AT_ONCE];
    Pack<T> row[AT_ONCE];
    #pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
        node[u] = __ldg(neighbours + at + u);
        factor[u] = WEIGHTED ? (T)__ldg(weights + at + u) : (T)1;
    }
    #pragma unroll
    for (int u = 0; u < AT_ONCE; u++) row[u] = load_row(x, node[u], stride, column, stay);
    #pragma unroll
    for (int u = 0; u < AT_ONCE; u++) add(sum, factor[u], row[u]);
}

// Adds those at positions begin to end, fewer than AT_ONCE.
template <typename T, bool WEIGHTED> __device__ __forceinline__ void add_rest(
    const u32* __restrict__ neighbours, const float* __restrict__ weights, const T* __restrict__ x, u64 begin, u64 end,
    u32 stride, u32 column, const Stay& stay, Pack<T>& sum) {
    for (u64 k = begin; k < end; k++) {
        T factor = WEIGHTED ? (T)__ldg(weights + k) : (T)1;
        add(sum, factor, load_row(x, __ldg(neighbours + k), stride, column, stay));
    }
}

// What a row becomes: a · scale · sum + c · z.
template <typename T> __device__ __forceinline__ void finish(
    const Pack<T>& sum, double scale, T a, T c, const T* z, T* y, u64 at, u32 crowded) {
    T factor = a * (T)scale;
    Pack<T> out;
    #pragma unroll
    for (int l = 0; l < Vector<T>::LANES; l++) out.v[l] = factor * sum.v[l];
    if (z) add(out, c, *reinterpret_cast<const Pack<T>*>(z + at));
    store(y + at, out, crowded);
}

// y = a · scale ∘ (loops · x + A x) + c · z on rows first to last. Rows of more than `split` neighbours are left to the
// kernels below. Positions of neighbours count from `origin`. z may be y.
template <typename T, bool WEIGHTED> __device__ __forceinline__ void product(
    const u64* __restrict__ offsets, const u32* __restrict__ neighbours, const float* __restrict__ weights,
    u64 origin, u64 split, float loops, const double* __restrict__ scale, T a, T c,
    const T* __restrict__ x, const T* z, T* y, u32 stride, u32 width, u32 first, u32 last, u32 crowded) {
    Place place(width, Vector<T>::LANES);
    u64 row = (u64)first + place.item;
    u32 column = place.column;
    if (row >= last || column >= stride) return;
    u64 begin = offsets[row] - origin, end = offsets[row + 1] - origin;
    if (end - begin > split) return;
    Stay stay(crowded);
    Pack<T> sum, own = load_row(x, (u32)row, stride, column, stay);
    #pragma unroll
    for (int l = 0; l < Vector<T>::LANES; l++) sum.v[l] = (T)loops * own.v[l];
    u64 k = begin;
    for (; k + AT_ONCE <= end; k += AT_ONCE)
        add_some<T, WEIGHTED>(neighbours, weights, x, k, stride, column, stay, sum);
    add_rest<T, WEIGHTED>(neighbours, weights, x, k, end, stride, column, stay, sum);
    finish(sum, scale[row], a, c, z, y, row * stride + column, crowded);
}

#define PRODUCT(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(128) product_##NAME(                                         \
        const u64* offsets, const u32* neighbours, const float* weights, u64 origin, u64 split, float loops,  \
        const double* scale, T a, T c, const T* x, const T* z, T* y, u32 stride, u32 width, u32 first,        \
        u32 last, u32 crowded) {                                                                              \
        if (weights)                                                                                          \
            product<T, true>(offsets, neighbours, weights, origin, split, loops, scale, a, c, x, z, y,        \
                             stride, width, first, last, crowded);                                            \
        else                                                                                                  \
            product<T, false>(offsets, neighbours, weights, origin, split, loops, scale, a, c, x, z, y,       \
                              stride, width, first, last, crowded);                                           \
    }

PRODUCT(float, f32)
PRODUCT(double, f64)

// Adds the neighbours at positions begin to end in groups: a chain for each group, then one of the groups.
template <typename T, bool WEIGHTED> __device__ __forceinline__ void add_block(
    const u32* __restrict__ neighbours, const float* __restrict__ weights, const T* __restrict__ x,
    u64 begin, u64 end, u32 stride, u32 column, const Stay& stay, Pack<T>& block) {
    for (u64 base = begin; base < end; base += AT_ONCE) {
        Pack<T> group = {};
        if (base + AT_ONCE <= end)
            add_some<T, WEIGHTED>(neighbours, weights, x, base, stride, column, stay, group);
        else
            add_rest<T, WEIGHTED>(neighbours, weights, x, base, end, stride, column, stay, group);
        add(block, (T)1, group);
    }
}

// A row with many neighbours is divided into pieces; `pieces` has the first and the last position of each, and
// `owners` the row whose own entry the first piece of a row begins with, or ~0. Their sums, in double precision, are added up
// by the next kernel.
template <typename T, bool WEIGHTED> __device__ __forceinline__ void piece_sums(
    const u32* __restrict__ neighbours, const float* __restrict__ weights, u64 origin,
    const u64* __restrict__ pieces, const u32* __restrict__ owners, float loops, const T* __restrict__ x,
    double* partial, u32 stride, u32 width, u32 count, u32 crowded) {
    Place place(width, Vector<T>::LANES);
    u32 piece = place.item, column = place.column;
    if (piece >= count || column >= stride) return;
    Stay stay(crowded);
    u64 begin = pieces[2 * piece] - origin, end = pieces[2 * piece + 1] - origin;
    double total[Vector<T>::LANES] = {};
    if (owners[piece] != 0xffffffffu) {
        Pack<T> own = load(x + (u64)owners[piece] * stride + column);
        #pragma unroll
        for (int l = 0; l < Vector<T>::LANES; l++) total[l] = (T)loops * own.v[l];
    }
    for (u64 from = begin; from < end; from += BLOCK_OF_ROW) {
        Pack<T> block = {};
        add_block<T, WEIGHTED>(
            neighbours, weights, x, from, min(end, from + BLOCK_OF_ROW), stride, column, stay, block);
        #pragma unroll
        for (int l = 0; l < Vector<T>::LANES; l++) total[l] += block.v[l];
    }
    #pragma unroll
    for (int l = 0; l < Vector<T>::LANES; l++) partial[(u64)piece * stride + column + l] = total[l];
}

// Row `rows[k]` has pieces first[k] to first[k + 1].
template <typename T> __device__ __forceinline__ void add_pieces(
    const u32* __restrict__ rows, const u32* __restrict__ first, u32 count, const double* __restrict__ partial,
    const double* __restrict__ scale, T a, T c, const T* z, T* y, u32 stride, u32 crowded) {
    u32 column = (blockIdx.y * blockDim.x + threadIdx.x) * Vector<T>::LANES;
    u32 k = blockIdx.x;
    if (k >= count || column >= stride) return;
    Pack<T> sum;
    #pragma unroll
    for (int l = 0; l < Vector<T>::LANES; l++) {
        double total = partial[(u64)first[k] * stride + column + l];
        for (u32 piece = first[k] + 1; piece < first[k + 1]; piece++)
            total += partial[(u64)piece * stride + column + l];
        sum.v[l] = (T)total;
    }
    finish(sum, scale[rows[k]], a, c, z, y, (u64)rows[k] * stride + column, crowded);
}

#define PIECES(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) piece_sums_##NAME(                                       \
        const u32* neighbours, const float* weights, u64 origin, const u64* pieces, const u32* owners,         \
        float loops, const T* x, double* partial, u32 stride, u32 width, u32 count, u32 crowded) {             \
        if (weights)                                                                                           \
            piece_sums<T, true>(neighbours, weights, origin, pieces, owners, loops, x, partial, stride, width, \
                                count, crowded);                                                               \
        else                                                                                                   \
            piece_sums<T, false>(neighbours, weights, origin, pieces, owners, loops, x, partial, stride,       \
                                 width, count, crowded);                                                       \
    }                                                                                                          \
    extern "C" __global__ void add_pieces_##NAME(                                                              \
        const u32* rows, const u32* first, u32 count, const double* partial, const double* scale, T a, T c,    \
        const T* z, T* y, u32 stride, u32 crowded) {                                                           \
        add_pieces<T>(rows, first, count, partial, scale, a, c, z, y, stride, crowded);                        \
    }

PIECES(float, f32)
PIECES(double, f64)

// Marks the neighbours that more than `split` rows need.
extern "C" __global__ void mark_hot(u32* neighbours, const u64* offsets, u64 split, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    u32 node = neighbours[k];
    if (offsets[node + 1] - offsets[node] > split) neighbours[k] = node | HOT;
}

// v[node] = before[node] · X[node], for columns first_column and on of a dense X with `columns` columns.
extern "C" __global__ void fill_dense(
    const float* x, u64 columns, u64 first_column, const double* before, float* v, u32 stride, u32 width, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    u64 node = k / stride;
    u32 column = k % stride;
    v[k] = column < width ? (float)(before[node] * x[node * columns + first_column + column]) : 0.0f;
}

// The same of compressed rows; v is zero.
extern "C" __global__ void fill_sparse(
    const u64* offsets, const u32* indices, const float* values, u32 first_column, u32 width, const double* before,
    float* v, u32 stride, u32 nodes) {
    u32 node = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (node >= nodes) return;
    for (u64 p = offsets[node] + (threadIdx.x & 31); p < offsets[node + 1]; p += 32) {
        u32 column = indices[p] - first_column;
        if (indices[p] >= first_column && column < width)
            v[(u64)node * stride + column] = (float)(before[node] * values[p]);
    }
}

// v[nodes[first + column]][column] = before of that node; v is zero.
extern "C" __global__ void fill_selectors(
    const u32* nodes, u32 first, u32 width, const double* before, double* v, u32 stride) {
    u32 column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    u32 node = nodes[first + column];
    v[(u64)node * stride + column] = before[node];
}

// X W of compressed rows, times before: v[node] = before[node] · Σ X_nj W_j, W of row-major `width` columns.
extern "C" __global__ void times_sparse(
    const u64* offsets, const u32* indices, const float* values, const double* weights, u32 width,
    const double* before, double* v, u32 stride, u32 nodes) {
    u32 node = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 column = blockIdx.y * 32 + (threadIdx.x & 31);
    if (node >= nodes || column >= width) return;
    double sum = 0.0;
    for (u64 p = offsets[node]; p < offsets[node + 1]; p++)
        sum += (double)values[p] * weights[(u64)indices[p] * width + column];
    v[(u64)node * stride + column] = before[node] * sum;
}

// v[first + row] = before · B[row] for some rows of a plain matrix in double precision.
extern "C" __global__ void fill_rows(
    const double* b, u32 width, const double* before, double* v, u32 stride, u32 first, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries) return;
    u64 row = first + k / width;
    v[row * stride + k % width] = before[row] * b[k];
}

// sums[f][row] += coefficient[f] · v[nodes[row]] for some filters; sums have `columns` columns, of which v has `width`
// from `first_column` on.
template <typename T> __device__ __forceinline__ void accumulate(
    const T* __restrict__ v, u32 stride, u32 width, const u32* __restrict__ nodes, u64 rows,
    const u32* __restrict__ filters, const T* __restrict__ coefficients, u32 count, T* sums, u64 columns,
    u64 first_column) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= rows * width) return;
    u64 row = k / width;
    u32 column = k % width;
    T value = v[(u64)nodes[row] * stride + column];
    for (u32 f = 0; f < count; f++) {
        u64 at = ((u64)filters[f] * rows + row) * columns + first_column + column;
        sums[at] += coefficients[f] * value;
    }
}

extern "C" __global__ void accumulate_f32(
    const float* v, u32 stride, u32 width, const u32* nodes, u64 rows, const u32* filters, const float* coefficients,
    u32 count, float* sums, u64 columns, u64 first_column) {
    accumulate<float>(v, stride, width, nodes, rows, filters, coefficients, count, sums, columns, first_column);
}

extern "C" __global__ void accumulate_f64(
    const double* v, u32 stride, u32 width, const u32* nodes, u64 rows, const u32* filters,
    const double* coefficients, u32 count, double* sums, u64 columns, u64 first_column) {
    accumulate<double>(v, stride, width, nodes, rows, filters, coefficients, count, sums, columns, first_column);
}

// Multiplies row r of each filter's sums by after[nodes[r]].
extern "C" __global__ void scale_f32(float* sums, const double* after, const u32* nodes, u64 rows, u64 columns, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries) sums[k] = (float)after[nodes[k / columns % rows]] * sums[k];
}

extern "C" __global__ void scale_f64(double* sums, const double* after, const u32* nodes, u64 rows, u64 columns, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries) sums[k] = after[nodes[k / columns % rows]] * sums[k];
}

// PᵀX for compressed columns of X: out[first_row + r][j] = Σ P[node][r] X[node][j], rounded once.
extern "C" __global__ void transposed_times_sparse(
    const u64* offsets, const u32* nodes, const float* values, const double* p, u32 width, float* out, u64 columns,
    u64 first_row) {
    u64 j = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 r = blockIdx.y * 32 + (threadIdx.x & 31);
    if (j >= columns || r >= width) return;
    double sum = 0.0;
    for (u64 k = offsets[j]; k < offsets[j + 1]; k++)
        sum += (double)values[k] * p[(u64)nodes[k] * width + r];
    out[(first_row + r) * columns + j] = (float)sum;
}

extern "C" __global__ void widen(const float* from, double* to, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries) to[k] = from[k];
}

extern "C" __global__ void narrow(const double* from, float* to, u64 entries) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries) to[k] = (float)from[k];
}
