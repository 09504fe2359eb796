//! Run-time choice of vector instructions.
//!
//! The kernels are plain loops over small arrays. Each is compiled once per [`Simd`] level, and the
//! best level that the processor has is picked when the program runs. No level fuses a
//! multiplication with an addition, so that all of them give the same bits. (Dense linear algebra has its
//! own way, with vectors that do fuse: [`linalg`](crate::linalg).)

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// What every processor of the architecture has.
    Baseline,
    /// 256-bit vectors, and fused multiplication and addition.
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// 512-bit vectors, and the same.
    #[cfg(target_arch = "x86_64")]
    Avx512(Detected),
}

/// Only made where the processor was asked: what makes calling the compiled-for code sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected(());

/// What a processor was found to have.
#[cfg(target_arch = "x86_64")]
struct Instructions {
    avx2: bool,
    fma: bool,
    avx512f: bool,
    avx512vl: bool,
}

impl Simd {
    /// The best level of this processor.
    pub fn detect() -> Self {
        *Self::available().last().expect("the baseline is always there")
    }

    /// Every level of this processor, the best last.
    pub fn available() -> &'static [Self] {
        use std::sync::OnceLock;
        static LEVELS: OnceLock<Vec<Simd>> = OnceLock::new();
        LEVELS.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            {
                Self::with(&Instructions {
                    avx2: std::is_x86_feature_detected!("avx2"),
                    fma: std::is_x86_feature_detected!("fma"),
                    avx512f: std::is_x86_feature_detected!("avx512f"),
                    avx512vl: std::is_x86_feature_detected!("avx512vl"),
                })
            }
            #[cfg(not(target_arch = "x86_64"))]
            vec![Simd::Baseline]
        })
    }

    /// The levels of a processor with these instructions: each needs all that its code is compiled
    /// for. A virtual machine may hide the smaller of two sets.
    #[cfg(target_arch = "x86_64")]
    fn with(has: &Instructions) -> Vec<Self> {
        let mut levels = vec![Simd::Baseline];
        if has.avx2 && has.fma {
            levels.push(Simd::Avx2(Detected(())));
        }
        if has.avx2 && has.fma && has.avx512f && has.avx512vl {
            levels.push(Simd::Avx512(Detected(())));
        }
        levels
    }

    /// Runs a closure compiled for this level; mark it `#[inline(always)]`, as all it calls. Write loops: what an iterator is given
    /// for each of its items may become a function of its own, compiled for any processor.
    ///
    /// ```
    /// use gfgcn::simd::Simd;
    /// let mut values = [1.0_f32; 100];
    /// Simd::detect().run(
    ///     #[inline(always)]
    ///     || {
    ///         for v in &mut values {
    ///             *v *= 2.0;
    ///         }
    ///     },
    /// );
    /// assert_eq!(values, [2.0; 100]);
    /// ```
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
                work()
            }
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
            fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
                work()
            }
            match self {
                Simd::Baseline => work(),
                // SAFETY: `Detected` says that the processor has the instructions.
                Simd::Avx2(Detected(())) => unsafe { with_avx2(work) },
                // SAFETY: as above.
                Simd::Avx512(Detected(())) => unsafe { with_avx512(work) },
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        work()
    }
}

/// Asks for the cache line of an entry that will be read soon; does nothing where the processor
/// cannot be asked.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see, and the address is valid.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(entry).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_offered_only_with_all_its_instructions() {
        let (avx2, avx512) = (Simd::Avx2(Detected(())), Simd::Avx512(Detected(())));
        for bits in 0..16 {
            let has = Instructions {
                avx2: bits & 1 != 0,
                fma: bits & 2 != 0,
                avx512f: bits & 4 != 0,
                avx512vl: bits & 8 != 0,
            };
            let levels = Simd::with(&has);
            assert_eq!(levels[0], Simd::Baseline);
            assert_eq!(levels.contains(&avx2), bits & 3 == 3);
            assert_eq!(levels.contains(&avx512), bits == 15);
        }
    }
}
