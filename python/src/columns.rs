//! Numbers of columns as SciPy keeps them: in 32 bits, or in 64 where the matrix is wider than that.

/// Numbers of columns, all of one width.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Of a matrix whose width fits 32 bits with a sign.
    Short(Vec<i32>),
    /// Of a wider one.
    Long(Vec<i64>),
}

impl Columns {
    /// The numbers `columns` of a matrix with `width` columns.
    pub(crate) fn new(columns: impl Iterator<Item = u32>, width: usize) -> Self {
        // By the width and not by the largest number, because SciPy does so.
        match i32::try_from(width) {
            Ok(_) => Columns::Short(columns.map(|column| column as i32).collect()),
            Err(_) => Columns::Long(columns.map(i64::from).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;

    /// 2³¹ − 1, the widest matrix whose columns are numbered in 32 bits.
    const WIDEST: usize = i32::MAX as usize;

    #[test]
    fn the_width_decides() {
        let columns = [0, 5, 2];
        assert_eq!(Columns::new(columns.into_iter(), 6), Columns::Short(vec![0, 5, 2]));
        assert_eq!(Columns::new(columns.into_iter(), WIDEST), Columns::Short(vec![0, 5, 2]));
        assert_eq!(Columns::new(columns.into_iter(), WIDEST + 1), Columns::Long(vec![0, 5, 2]));
    }

    #[test]
    fn large_numbers_do_not_wrap() {
        let largest = i32::MAX as u32 - 1;
        assert_eq!(Columns::new([largest].into_iter(), WIDEST), Columns::Short(vec![i32::MAX - 1]));
        let columns = [i32::MAX as u32 + 1, u32::MAX - 1];
        assert_eq!(
            Columns::new(columns.into_iter(), u32::MAX as usize),
            Columns::Long(vec![2_147_483_648, 4_294_967_294])
        );
    }
}
