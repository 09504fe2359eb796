//! What all operations promise: the same bits on any number of threads, and an end soon after nobody wants the
//! result any more.

use super::*;
use crate::context::{Cancel, Context};
use crate::error::{Error, Result};
use rayon::ThreadPoolBuilder;

fn value(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4
}

fn positive(n: usize) -> Matrix<f64> {
    Matrix::from_fn(n, n, |i, j| {
        let distance = i.abs_diff(j) as f64;
        (-0.1 * distance).exp() + 0.01 * (distance * 0.7).cos() + f64::from(i == j)
    })
}

/// The bits of what some work gives on 1, 2, 3 and 5 threads are the same.
fn assert_same_bits(what: &str, work: impl Fn() -> Vec<f64> + Sync) {
    let bits = |threads: usize| -> Vec<u64> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work).into_iter().map(f64::to_bits).collect()
    };
    let alone = bits(1);
    for threads in [2, 3, 5] {
        assert!(bits(threads) == alone, "{what} on {threads} threads");
    }
}

#[test]
fn products_are_the_same_bits_on_any_number_of_threads() {
    let context = Context::default();
    // One thread, several parts, several pieces.
    for n in [100, 520, 1100] {
        let (a, b) = (Matrix::from_fn(n, n, value), Matrix::from_fn(n, n + 1, value));
        assert_same_bits("a product", || multiply(&a, &b, &context).unwrap().into_vec());
        assert_same_bits("a Gram matrix", || gram_of_rows(&b, &context).unwrap().into_vec());
    }
}

#[test]
fn reductions_are_the_same_bits_on_any_number_of_threads() {
    let context = Context::default();
    for n in [100, 599, 600, 641] {
        assert_same_bits("a reduction", || {
            let reduced = Tridiagonal::reduce(positive(n), &context).unwrap();
            let mut rows = Matrix::from_fn(n, n, |i, j| f64::from(i == j));
            reduced.rotate_rows(&mut rows, &context).unwrap();
            let solved = reduced.shift(&[0.1]).solve(&rows);
            let mut all = reduced.rotate_back(&solved, &context).unwrap().into_vec();
            all.append(&mut rows.into_vec());
            all
        });
    }
}

#[test]
fn factorisations_are_the_same_bits_on_any_number_of_threads() {
    let context = Context::default();
    // One thread, several parts, several blocks.
    for n in [100, 600, 1900] {
        let s = positive(n);
        let b = Matrix::from_fn(n, 300, value);
        assert_same_bits("a solution", || {
            let factor = Cholesky::new(s.clone(), &context).unwrap().unwrap();
            factor.solve(b.clone(), &context).unwrap().into_vec()
        });
    }
}

#[test]
fn work_that_nobody_wants_is_not_begun() {
    let wanted = Context::default();
    let cancel = Cancel::default();
    cancel.cancel();
    let context = &Context::default().with_cancel(cancel);
    let a = &Matrix::from_fn(5, 5, value);
    let reduced = Tridiagonal::reduce(positive(5), &wanted).unwrap();
    let factor = Cholesky::new(positive(5), &wanted).unwrap().unwrap();
    let results: [Result<()>; 11] = [
        multiply(a, a, context).map(drop),
        multiply_transposed(a, a, context).map(drop),
        multiply_by_transposed(a, a, context).map(drop),
        gram_of_rows(a, context).map(drop),
        gram_of_columns(a, context).map(drop),
        Tridiagonal::reduce(positive(5), context).map(drop),
        Tridiagonal::reduce_and_rotate(positive(5), &mut a.clone(), a, context).map(drop),
        reduced.rotate_rows(&mut a.clone(), context),
        reduced.rotate_back(a, context).map(drop),
        Cholesky::new(positive(5), context).map(drop),
        factor.solve(a.clone(), context).map(drop),
    ];
    for (k, result) in results.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::Cancelled)), "operation {k}");
    }
}

/// Two reductions at the same time on every number of threads: helpers of one may be busy with the other.
#[test]
fn reductions_beside_each_other_do_not_wait_for_each_other() {
    let context = Context::default();
    let form = |reduced: &Tridiagonal| {
        let mut forms = [[0.0; FORMS_AT_ONCE]];
        reduced.shift(&[1.0]).quadratic_forms(&[[1.0; FORMS_AT_ONCE]; 601], &mut forms);
        forms
    };
    let wanted = form(&Tridiagonal::reduce(positive(601), &context).unwrap());
    for threads in [1, 2, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let both = pool.install(|| {
            let reduce = || Tridiagonal::reduce(positive(601), &context).unwrap();
            rayon::join(reduce, reduce)
        });
        for reduced in [both.0, both.1] {
            assert_eq!(form(&reduced), wanted);
        }
    }
}
