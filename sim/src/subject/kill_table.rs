//! What killed each planted bug, kept from run to run: `snapshots/kill-table.tsv`.
//!
//! Promises: what is printed reads back the same; a bug that was killed and is not any more is told apart
//! from one that dies otherwise than it did. Leaves out: how a person is shown it.

use std::collections::BTreeMap;

use thiserror::Error;

use super::kill::Fate;
use super::mutant::Mutant;

/// Where it is kept, relative to the root of the sources.
pub const FILE: &str = "snapshots/kill-table.tsv";

/// Its columns (CONTRACTS 9).
const COLUMNS: [&str; 8] = ["id", "target", "findings", "status", "killed_by", "how", "seeds", "scenarios"];

/// The status of a bug that died as it should.
const KILLED: &str = "killed";

/// One planted bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which.
    pub id: String,
    /// What it is planted into.
    pub target: String,
    /// The findings it repeats.
    pub findings: Vec<String>,
    /// The word of its fate.
    pub status: String,
    /// What killed it, or noticed it.
    pub killed_by: Option<String>,
    /// What showed it.
    pub how: Option<String>,
    /// Worlds up to and with the first kill, from the worst start.
    pub seeds: Option<u64>,
    /// The scenarios that kill it.
    pub scenarios: Vec<String>,
}

impl Row {
    /// What became of a bug.
    pub fn of(mutant: &Mutant, fate: &Fate, scenarios: Vec<String>) -> Self {
        let (killed_by, how, seeds) = match fate {
            Fate::Killed(kill) => (Some(kill.by.clone()), Some(kill.how.to_owned()), kill.seeds),
            Fate::WrongCheck { by } => (Some(by.clone()), None, None),
            Fate::Survived | Fate::Stale { .. } | Fate::Unbuildable { .. } | Fate::Hung => (None, None, None),
        };
        Self {
            id: mutant.id.clone(),
            target: mutant.target.code().to_owned(),
            findings: mutant.findings.clone(),
            status: fate.code().to_owned(),
            killed_by,
            how,
            seeds,
            scenarios,
        }
    }

    /// Whether it died as it should.
    pub fn is_killed(&self) -> bool {
        self.status == KILLED
    }

    /// What it died by, in words.
    fn death(&self) -> String {
        match (&self.killed_by, &self.how, self.seeds) {
            (Some(by), _, Some(seeds)) => format!("{by} at seed {seeds}"),
            (Some(by), Some(how), None) => format!("{by}, {how}"),
            (Some(by), None, None) => by.clone(),
            (None, ..) => self.status.clone(),
        }
    }

    fn line(&self) -> String {
        let seeds = self.seeds.map(|seeds| seeds.to_string());
        let cells: [String; 8] = [
            self.id.clone(),
            self.target.clone(),
            self.findings.join(","),
            self.status.clone(),
            self.killed_by.clone().unwrap_or_default(),
            self.how.clone().unwrap_or_default(),
            seeds.unwrap_or_default(),
            self.scenarios.join(","),
        ];
        format!("{}\n", cells.join("\t"))
    }
}

/// Why a text is no kill table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// It does not begin with the names of its columns.
    #[error("its first line does not name its columns")]
    NoColumns,
    /// A line that is no row.
    #[error("line {line} is no row of it")]
    NoRow {
        /// Counted from 1.
        line: usize,
    },
}

/// The table, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillTable {
    rows: BTreeMap<String, Row>,
}

/// What moved between the table that is kept and a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which bug.
    pub id: String,
    /// In words.
    pub sentence: String,
    /// Whether something is worse now: it was killed and is not, or it is not there any more.
    pub is_worse: bool,
}

impl KillTable {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// When a line is none of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use sim::subject::kill_table::KillTable;
    ///
    /// let text = "id\ttarget\tfindings\tstatus\tkilled_by\thow\tseeds\tscenarios\n\
    ///             cut-before-copy\tcore\tN12\tkilled\tI02\tseed\t17\ta.kdl,b.kdl\n";
    /// let table = KillTable::read(text)?;
    /// let row = table.row("cut-before-copy").expect("a row of that name");
    /// assert_eq!((row.is_killed(), row.seeds, row.scenarios.len()), (true, Some(17), 2));
    /// assert_eq!(table.print(), text);
    /// # Ok::<(), sim::subject::kill_table::TableError>(())
    /// ```
    pub fn read(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines().enumerate();
        if lines.next().is_none_or(|(_, line)| line.split('\t').ne(COLUMNS)) {
            return Err(TableError::NoColumns);
        }
        let mut rows = BTreeMap::new();
        for (index, line) in lines {
            let row = read_row(line).ok_or(TableError::NoRow { line: index + 1 })?;
            rows.insert(row.id.clone(), row);
        }
        Ok(Self { rows })
    }

    /// The table as it is kept: sorted by id, one header line.
    pub fn print(&self) -> String {
        let head = format!("{}\n", COLUMNS.join("\t"));
        std::iter::once(head).chain(self.rows.values().map(Row::line)).collect()
    }

    /// Its rows, by id.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// The row of a bug.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows.get(id)
    }

    /// Takes what a run came to. Rows of bugs that it did not run stay, unless the bug is gone.
    pub fn take(&mut self, ran: &[Row], known: &[String]) {
        self.rows.retain(|id, _| known.contains(id));
        self.rows.extend(ran.iter().map(|row| (row.id.clone(), row.clone())));
    }

    /// What moved since the table was kept: of the bugs that ran, and those of which there is no file.
    pub fn moves(&self, ran: &[Row], known: &[String]) -> Vec<Move> {
        let of_row = |row: &Row| {
            let Some(kept) = self.rows.get(&row.id) else {
                return Some(("it is in no row of the table".to_owned(), false));
            };
            let (was, is) = (kept.death(), row.death());
            let is_worse = kept.is_killed() && !row.is_killed();
            (is_worse || was != is).then(|| (format!("was {was}, is {is}"), is_worse))
        };
        let moved = ran.iter().filter_map(|row| {
            of_row(row).map(|(sentence, is_worse)| Move { id: row.id.clone(), sentence, is_worse })
        });
        let gone = self.missing(known).map(|id| Move {
            id: id.to_owned(),
            sentence: "it is in the table, and there is no file of it".to_owned(),
            is_worse: true,
        });
        moved.chain(gone).collect()
    }

    /// Bugs in the table of which there is no file.
    pub fn missing<'a>(&'a self, known: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.rows.keys().filter(|id| !known.contains(id)).map(String::as_str)
    }
}

fn read_row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, target, findings, status, killed_by, how, seeds, scenarios] = cells[..] else { return None };
    let list = |cell: &str| cell.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let word = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
    let seeds = match seeds {
        "" => None,
        digits => Some(digits.parse().ok()?),
    };
    Some(Row {
        id: word(id)?,
        target: word(target)?,
        findings: list(findings),
        status: word(status)?,
        killed_by: word(killed_by),
        how: word(how),
        seeds,
        scenarios: list(scenarios),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "id\ttarget\tfindings\tstatus\tkilled_by\thow\tseeds\tscenarios\n\
        cut-before-copy\tcore\tN12,F17\tkilled\tI02\tseed\t17\ta.kdl,b.kdl\n\
        deaf-check\toracle\t\tsurvived\t\t\t\t\n\
        flips\tdisk\t\tkilled\tself-check:litmus\tself-check\t\t\n";

    fn table() -> KillTable {
        KillTable::read(TEXT).expect("it is a table")
    }

    #[test]
    fn what_is_kept_reads_back_as_it_was_printed() {
        let table = table();
        assert_eq!(table.print(), TEXT);
        let row = table.row("cut-before-copy").expect("it is there");
        assert_eq!((row.seeds, row.scenarios.len(), row.is_killed()), (Some(17), 2, true));
        assert_eq!(KillTable::read(""), Err(TableError::NoColumns));
        assert_eq!(KillTable::read(&format!("{TEXT}x\tcore\n")), Err(TableError::NoRow { line: 5 }));
        assert_eq!(KillTable::read(&TEXT.replace("\t17\t", "\tmany\t")), Err(TableError::NoRow { line: 2 }));
    }

    #[test]
    fn a_bug_that_lives_again_is_worse_and_one_that_dies_otherwise_is_not() {
        let table = table();
        let known = ["cut-before-copy", "deaf-check", "flips", "new"].map(str::to_owned);
        let row = |id: &str| table.row(id).expect("it is there").clone();
        assert_eq!(table.moves(&[row("cut-before-copy"), row("deaf-check")], &known), []);
        let moved = |row: Row| {
            let all = table.moves(&[row], &known);
            let [only] = &all[..] else { panic!("{all:?}") };
            (only.sentence.clone(), only.is_worse)
        };
        let survived = Row { status: "survived".to_owned(), killed_by: None, ..row("cut-before-copy") };
        assert_eq!(moved(survived), ("was I02 at seed 17, is survived".to_owned(), true));
        let later = Row { seeds: Some(18), ..row("cut-before-copy") };
        assert_eq!(moved(later), ("was I02 at seed 17, is I02 at seed 18".to_owned(), false));
        let new = Row { id: "new".to_owned(), ..row("flips") };
        assert_eq!(moved(new), ("it is in no row of the table".to_owned(), false));
        let gone = table.moves(&[], &known[1..]);
        assert_eq!((gone.len(), gone[0].id.as_str(), gone[0].is_worse), (1, "cut-before-copy", true));
    }

    #[test]
    fn a_run_of_some_leaves_the_rows_of_others_and_drops_those_of_none() {
        let mut table = table();
        let later = Row { seeds: Some(18), ..table.row("cut-before-copy").expect("it is there").clone() };
        table.take(&[later], &["cut-before-copy".to_owned(), "flips".to_owned()]);
        let ids: Vec<&str> = table.rows().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["cut-before-copy", "flips"]);
        assert_eq!(table.row("cut-before-copy").and_then(|row| row.seeds), Some(18));
    }
}
