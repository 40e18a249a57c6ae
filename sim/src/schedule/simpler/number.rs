//! Smaller numbers in place of a number.

/// Numbers from `least` up to the one before `number`, boldest first: a search for the smallest that will do
/// takes as many turns as the number has bits.
pub fn lower<N: Copy + Into<u64> + TryFrom<u64>>(number: N, least: u64) -> Vec<N> {
    let number: u64 = number.into();
    let mut found = Vec::new();
    let mut step = number.saturating_sub(least);
    while step > 0 {
        found.extend(N::try_from(number - step));
        step /= 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_lowered_by_all_of_it_then_by_halves() {
        assert_eq!(lower(9_u32, 1), [1, 5, 7, 8]);
        assert!(lower(1_u32, 1).is_empty());
        assert!(lower(0_u64, 3).is_empty());
    }
}
