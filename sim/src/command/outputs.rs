//! What a run leaves besides its lines: a page, a file for CI, and remarks for GitHub's runner.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::file::write;
use crate::exit::Exit;
use crate::oracle::sample::Checks;
use crate::report::annotations::annotations;
use crate::report::html::{self, SCENES, Scene};
use crate::report::junit;
use crate::report::whole::Whole;
use crate::run::one::{sample_of, schedule_of};
use crate::run::replay::twice;
use crate::run::session::Group;
use crate::schedule::token::Token;
use crate::schedule::word::Word;
use crate::subject::kill_table::{FILE, KillTable};
use crate::world::{Arena, Watch, WorldImage};

/// Which outputs are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Outputs<'a> {
    /// A page.
    pub html: Option<&'a Path>,
    /// A file for CI.
    pub junit: Option<&'a Path>,
}

impl Outputs<'_> {
    /// Writes them; remarks for GitHub's runner where it is that which runs this, on a stream beside the lines. One that
    /// cannot be written is told there, keeps no other one back, and is what a run ends with that would be green: a red
    /// one stays red.
    ///
    /// # Errors
    ///
    /// When the stream cannot be written.
    pub fn write(
        self,
        whole: &Whole,
        image: Option<&'static WorldImage>,
        err: &mut dyn Write,
    ) -> io::Result<Exit> {
        let junit = self.junit.map(|file| write(file, &junit::document(whole)));
        let html =
            self.html.map(|file| write(file, &html::page(whole, &scenes(whole, image), &kill_table()?)));
        let mut exit = whole.exit;
        for failed in [junit, html].into_iter().flatten().filter_map(Result::err) {
            writeln!(err, "error: {failed}")?;
            exit = if exit == Exit::Held { Exit::Usage } else { exit };
        }
        if env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            err.write_all(annotations(whole).as_bytes())?;
        }
        Ok(exit)
    }
}

fn kill_table() -> io::Result<KillTable> {
    match fs::read_to_string(FILE) {
        Ok(text) => KillTable::read(&text).map_err(|error| io::Error::other(format!("{FILE}: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KillTable::default()),
        Err(error) => Err(error),
    }
}

/// The first failing seed of each group, new ones first, run again and watched. One whose world cannot be made here
/// (of another generator, of an image that is not at hand), or is another one here than it was in the run (another build
/// ran it), is left out.
fn scenes(whole: &Whole, image: Option<&'static WorldImage>) -> Vec<Scene> {
    let mut arena = Arena::on(image);
    let (known, new): (Vec<&Group>, Vec<&Group>) = whole.summary.groups.iter().partition(|group| group.known);
    let groups = new.into_iter().chain(known).take(SCENES);
    // Of checks that this build does not know the usual ones are the nearest.
    let checks = Checks::from_word(&whole.started.checks).unwrap_or(Checks::Default);
    let scenes = groups.filter_map(|group| {
        let digest = whole.line_of(group).and_then(|line| line.digest.clone());
        let scene = scene(&group.id, &group.token, &mut arena, checks)?;
        digest.is_none_or(|digest| digest == format!("{:016x}", scene.report.digest)).then_some(scene)
    });
    scenes.collect()
}

fn scene(group: &str, token: &str, arena: &mut Arena, checks: Checks) -> Option<Scene> {
    let image = arena.image;
    let token: Token = token.parse().ok()?;
    token.check(image.map(WorldImage::hash)).ok()?;
    let schedule = schedule_of(token.seed, token.knobs, image);
    let (report, ..) = twice(&schedule, arena, Watch::of(sample_of(token.seed, checks)));
    Some(Scene { group: group.to_owned(), schedule, report })
}
