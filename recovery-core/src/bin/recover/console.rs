//! Where a command's answer goes. The only file that prints.
//!
//! Promises: standard output holds the answer and nothing else: text for people, or with `--json` exactly
//! one object on one line, and the text goes to standard error then. A reader that goes away early is no
//! error.

use std::io::{self, ErrorKind, Write};

use clap::error::ErrorKind as ClapErrorKind;
use serde::Serialize;

use crate::arguments::ColorWhen;
use crate::exit::Exit;
use crate::mistake::Mistake;
use crate::palette::{BAD, errors, output, paint};
use crate::paragraph::paragraph;
use crate::report::ErrorObject;

/// The two streams, as the command line wants them used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// Whether programs read the answer.
    pub(crate) json: bool,
    /// When people's text is coloured.
    pub(crate) color: ColorWhen,
}

impl Console {
    /// Gives the answer in the form that was asked for, and ends with `exit` if it could be given.
    pub(crate) fn answer(self, text: &str, object: &impl Serialize, exit: Exit) -> Exit {
        let written = if self.json {
            // The object is the answer: it is given even if nobody can be told the text.
            let _ = write_all(errors(self.color), text.as_bytes());
            serde_json::to_vec(object).map_err(io::Error::other).and_then(|mut line| {
                line.push(b'\n');
                write_all(io::stdout(), &line)
            })
        } else {
            write_all(output(self.color), text.as_bytes())
        };
        match written {
            Ok(()) => exit,
            Err(error) => {
                let sentence = format!("the answer could not be written: {error}");
                // Nobody is left to tell if this fails too.
                let _ = write_all(errors(self.color), complaint(&sentence, None).as_bytes());
                Exit::Unavailable
            }
        }
    }

    /// Says what is wrong with the command line.
    pub(crate) fn refuse(self, mistake: &Mistake) -> Exit {
        self.fail(&mistake.to_string(), mistake.hint(), &ErrorObject::of(mistake), Exit::Usage)
    }

    /// Says why there is no answer.
    pub(crate) fn fail(self, sentence: &str, hint: Option<&str>, object: &ErrorObject, exit: Exit) -> Exit {
        let text = complaint(sentence, hint);
        if self.json {
            return self.answer(&text, object, exit);
        }
        // Nobody is left to tell if this fails.
        let _ = write_all(errors(self.color), text.as_bytes());
        exit
    }
}

/// Prints what the parser of the command line has to say: help, version, or what is wrong.
pub(crate) fn parser_says(error: &clap::Error, is_json: bool) -> Exit {
    // Nobody is left to tell if this fails.
    let _ = error.print();
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        return Exit::Clean;
    }
    if is_json {
        // The first paragraph says what is wrong; usage and a pointer to the help follow.
        let said = error.render().to_string();
        let words = said.lines().take_while(|line| !line.trim().is_empty()).flat_map(str::split_whitespace);
        let sentence = words.skip_while(|word| *word == "error:").collect::<Vec<_>>().join(" ");
        let object = ErrorObject::of(&Mistake::CommandLine { sentence });
        return Console { json: true, color: ColorWhen::Never }.answer("", &object, Exit::Usage);
    }
    Exit::Usage
}

/// An error for people, and advice on a line of its own.
fn complaint(sentence: &str, hint: Option<&str>) -> String {
    let mut text = paragraph(&format!("{} ", paint(BAD, "error:")), sentence);
    if let Some(hint) = hint {
        text.push_str(&paragraph("hint: ", hint));
    }
    text
}

fn write_all(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
