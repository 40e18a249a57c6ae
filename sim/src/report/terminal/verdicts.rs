//! What has moved in the pinned seeds, as one table.

use std::io::{self, Write};

use super::text::{counted, hint, paragraph};
use crate::command::verdicts::VerdictsReport;

/// What stands for the verdict of seeds in which it did not move, and something else did.
const SAME: &str = "the same, other offsets or bytes";

/// Shows the table, a row a move and below it the token of the first of its seeds.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn verdicts(out: &mut dyn Write, report: &VerdictsReport) -> io::Result<()> {
    let moves = &report.moves;
    if let Some(first) = moves.moves.first() {
        writeln!(out, "{:>8}  {:<30}  to", "seeds", "from")?;
        for moved in &moves.moves {
            let to = if moved.to == moved.from { SAME } else { &moved.to };
            writeln!(out, "{:>8}  {:<30}  {to}", moved.count, moved.from)?;
            writeln!(out, "{:10}{}", "", report.token(moved.seed))?;
        }
        writeln!(out)?;
        tell(out, report)?;
        return hint(out, "replay", &format!("cargo sim replay {}", report.token(first.seed)));
    }
    tell(out, report)
}

fn tell(out: &mut dyn Write, report: &VerdictsReport) -> io::Result<()> {
    let moves = &report.moves;
    if report.not_run > 0 {
        let left = counted(report.not_run, "seed");
        paragraph(out, "CUT", &format!("interrupted: the last {left} were not run"))?;
    }
    if moves.missing > 0 {
        let text = format!("it has nothing of {}, not compared", counted(moves.missing, "pinned seed"));
        paragraph(out, "MISSING", &text)?;
    }
    let (compared, against) = (counted(moves.compared, "seed"), &report.against);
    let text = format!("{compared} against {against}: {} the same, {} moved", moves.same, moves.moved);
    paragraph(out, "Summary", &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::moves::{Move, Moves};
    use crate::run::pinned::PinnedSeed;
    use crate::schedule::token::Commit;

    fn told(moves: Moves) -> String {
        let report = VerdictsReport {
            against: "main".to_owned(),
            moves,
            commit: Commit::Known { id: 7, is_dirty: true },
            not_run: 0,
        };
        let mut out = Vec::new();
        verdicts(&mut out, &report).expect("memory takes it");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_review_is_one_table_of_80_columns() {
        let one = |from: &str, to: &str, count| Move {
            from: from.to_owned(),
            to: to.to_owned(),
            count,
            seed: PinnedSeed { has_hosts: false, seed: 0x5eed },
        };
        let moves = vec![
            one("refuse/empty-non-tail-segment", "refuse/superblock-unreadable", 12),
            one("refuse/offset-discontinuity", "refuse/offset-discontinuity", 1),
        ];
        let text = told(Moves { compared: 1000, same: 987, moved: 13, missing: 0, moves });
        let expected = "   seeds  from                            to
      12  refuse/empty-non-tail-segment   refuse/superblock-unreadable
          tm1-5eed-rmfasmn1-g2-00000007+
       1  refuse/offset-discontinuity     the same, other offsets or bytes
          tm1-5eed-rmfasmn1-g2-00000007+

 Summary  1000 seeds against main: 987 the same, 13 moved
          replay  cargo sim replay tm1-5eed-rmfasmn1-g2-00000007+
";
        assert_eq!(text, expected.replace("-g2-", &format!("-g{}-", crate::schedule::generate::GENERATOR)));
        assert!(text.lines().all(|line| line.len() <= 80));
    }

    #[test]
    fn nothing_moved_is_one_line() {
        let text = told(Moves { compared: 1000, same: 1000, ..Moves::default() });
        assert_eq!(text, " Summary  1000 seeds against main: 1000 the same, 0 moved\n");
    }
}
