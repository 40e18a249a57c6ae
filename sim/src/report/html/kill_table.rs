//! Planted bugs and what killed them, with the seeds that it took: from the table that is kept.

use std::fmt::Write;

use super::chart::{Bar, bars};
use super::escape;
use crate::subject::kill_table::{KillTable, Row};

/// The section of the page.
pub(super) fn section(table: &KillTable) -> String {
    let rows: Vec<&Row> = table.rows().collect();
    if rows.is_empty() {
        return "<section>\n<h2>Kill table</h2>\n<p class=\"quiet\">No table of planted bugs is kept here: \
                <code>cargo sim mutants --accept</code> makes it.</p>\n</section>\n"
            .to_owned();
    }
    let killed = rows.iter().filter(|row| row.is_killed()).count();
    let mut seeds: Vec<Bar> = rows.iter().filter_map(|row| Some(Bar::plain(&row.id, row.seeds?))).collect();
    seeds.sort_by_key(|bar| bar.count);
    let mut cells = String::new();
    for row in &rows {
        let word = |word: &Option<String>| escape(word.as_deref().unwrap_or_default());
        let seeds = row.seeds.map(|seeds| seeds.to_string()).unwrap_or_default();
        writeln!(
            cells,
            "<tr><td class=\"w\">{}</td><td>{}</td><td class=\"{}\">{}</td><td class=\"w\">{}</td>\
             <td>{}</td><td class=\"n\">{seeds}</td></tr>",
            escape(&row.id),
            escape(&row.target),
            if row.is_killed() { "good" } else { "bad" },
            escape(&row.status),
            word(&row.killed_by),
            word(&row.how),
        )
        .expect("a string takes it");
    }
    format!(
        "<section>\n<h2>Kill table</h2>\n<p class=\"quiet\">{killed} of {} planted bugs are killed by the \
         check that they name. Worlds up to the first kill, on a logarithmic scale:</p>\n<div class=\"wide\">{}</div>\
         <details><summary>every planted bug</summary>\n<div class=\"scroll\"><table>\n<tr><th>bug</th>\
         <th>in</th><th>status</th><th>killed by</th><th>how</th><th>worlds</th></tr>\n{cells}</table>\
         </div></details>\n</section>\n",
        rows.len(),
        bars(&seeds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_table_and_its_kills_are_drawn() {
        let text = "id\ttarget\tfindings\tstatus\tkilled_by\thow\tseeds\tscenarios\n\
                    cut-before-copy\tcore\tN12\tkilled\tI02\tseed\t17\ta.kdl\n\
                    deaf-check\toracle\tN40\tsurvived\t\t\t\t\n";
        let page = section(&KillTable::read(text).expect("it is a table"));
        assert!(page.contains("1 of 2 planted bugs") && page.contains("class=\"bad\">survived"));
        assert!(section(&KillTable::default()).contains("No table"));
    }
}
