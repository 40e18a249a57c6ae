//! Where two runs of one schedule part: the first record that is not the same.

use crate::world::event::Event;

/// The first difference between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the record, counted from 0.
    pub at: usize,
    /// The record of the first run; `None`: it had ended.
    pub first: Option<Event>,
    /// The record of the second run; `None`: it had ended.
    pub second: Option<Event>,
}

/// Where the records of two runs part; `None` if they are the same.
pub fn first_difference(first: &[Event], second: &[Event]) -> Option<Difference> {
    let same = first.iter().zip(second).take_while(|(left, right)| left == right).count();
    if same == first.len() && same == second.len() {
        return None;
    }
    Some(Difference { at: same, first: first.get(same).copied(), second: second.get(same).copied() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::event::EventCode;

    fn event(a: u64) -> Event {
        Event { code: EventCode::Call, node: 0, step: 1, a, b: 0, c: 0 }
    }

    #[test]
    fn two_runs_part_at_the_first_record_that_differs() {
        let run = [event(1), event(2), event(3)];
        assert_eq!(first_difference(&run, &run), None);
        let other = [event(1), event(7), event(3)];
        let parted = Difference { at: 1, first: Some(event(2)), second: Some(event(7)) };
        assert_eq!(first_difference(&run, &other), Some(parted));
    }

    #[test]
    fn a_run_that_ends_early_parts_where_it_ends() {
        let run = [event(1), event(2)];
        let parted = Difference { at: 1, first: Some(event(2)), second: None };
        assert_eq!(first_difference(&run, &run[..1]), Some(parted));
        let parted = Difference { at: 1, first: None, second: Some(event(2)) };
        assert_eq!(first_difference(&run[..1], &run), Some(parted));
    }
}
