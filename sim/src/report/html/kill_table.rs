//! Planted bugs and what killed them, with the seeds that it took: read from the table that is kept.

use std::fmt::Write;

use super::chart::{Bar, bars};
use super::escape;

/// The columns of the kept table (CONTRACTS 9).
const COLUMNS: [&str; 8] = ["id", "target", "findings", "status", "killed_by", "how", "seeds", "scenarios"];

/// The table; empty where none is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillTable {
    rows: Vec<[String; 8]>,
}

impl KillTable {
    /// Reads the table. A line that is not one of it is left out.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let cells = |line: &str| -> Option<[String; 8]> {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            cells.try_into().ok()
        };
        Self { rows: text.lines().filter_map(cells).filter(|row| *row != COLUMNS).collect() }
    }

    /// Its section of the page.
    pub(super) fn section(&self) -> String {
        if self.rows.is_empty() {
            return "<section>\n<h2>Kill table</h2>\n<p class=\"quiet\">No table of planted bugs is kept here: \
                    <code>cargo sim mutants --accept</code> makes it.</p>\n</section>\n"
                .to_owned();
        }
        let killed = self.rows.iter().filter(|row| row[3] == "killed").count();
        let mut seeds: Vec<Bar> =
            self.rows.iter().filter_map(|row| Some(Bar::plain(&row[0], row[6].parse().ok()?))).collect();
        seeds.sort_by_key(|bar| bar.count);
        let mut rows = String::new();
        for row in &self.rows {
            let [id, target, _, status, killed_by, how, seeds, _] = row.each_ref().map(|cell| escape(cell));
            let class = if status == "killed" { "good" } else { "bad" };
            writeln!(
                rows,
                "<tr><td class=\"w\">{id}</td><td>{target}</td><td class=\"{class}\">{status}</td>\
                 <td class=\"w\">{killed_by}</td><td>{how}</td><td class=\"n\">{seeds}</td></tr>"
            )
            .expect("a string takes it");
        }
        format!(
            "<section>\n<h2>Kill table</h2>\n<p class=\"quiet\">{killed} of {} planted bugs are killed by the \
             check that they name. Worlds up to the first kill, on a logarithmic scale:</p>\n{}\
             <details><summary>every planted bug</summary>\n<div class=\"scroll\"><table>\n<tr><th>bug</th>\
             <th>in</th><th>status</th><th>killed by</th><th>how</th><th>worlds</th></tr>\n{rows}</table>\
             </div></details>\n</section>\n",
            self.rows.len(),
            bars(&seeds)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_table_reads_and_its_kills_are_drawn() {
        let text = "id\ttarget\tfindings\tstatus\tkilled_by\thow\tseeds\tscenarios\n\
                    cut-before-copy\tcore\tN12\tkilled\tI02\tseed\t17\ta.kdl\n\
                    deaf-check\toracle\tN40\tsurvived\t\t\t\t\n";
        let table = KillTable::read(text);
        assert_eq!(table.rows.len(), 2);
        let section = table.section();
        assert!(section.contains("1 of 2 planted bugs") && section.contains("class=\"bad\">survived"));
        assert!(KillTable::read("").section().contains("No table"));
    }
}
