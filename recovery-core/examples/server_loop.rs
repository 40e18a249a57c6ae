//! A small server that embeds the core: it boots, serves, is killed in the middle of a write, and comes back.
//!
//! `cargo run --package recovery-core --example server_loop`
//!
//! What a server owes the core is all here: one [`Host`] on one storage; work in slices of bounded size, so that no
//! partition keeps another one waiting; an answer to a producer only when [`Host::flush`] has returned; and every
//! event printed, for they are how an operator learns of a refusal. What it leaves out is a network.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a server prints, and this one damages a file of its own, as a kill does"
)]

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use recovery_core::format::{BatchBuilder, FileName, Message};
use recovery_core::host::{ClientError, Host, HostOptions, NewPartition};
use recovery_core::observe::{Progress, Workspace};
use recovery_core::partition::{PollRequest, Polled};
use recovery_core::storage::os::OsStorage;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, SegmentStart};

/// The one partition of this server.
const NAMESPACE: Namespace = Namespace { stream: 1, topic: 1, partition: 0 };

/// Bytes of work between two looks at what else there is to do.
const SLICE_BYTES: u64 = 1024 * 1024;

/// Bytes of a window over a log.
const WINDOW_BYTES: usize = 64 * 1024;

/// What a client asks for.
enum Request {
    /// Takes a message in, and promises nothing yet.
    Append(&'static str),
    /// Promises that all that was taken in is kept.
    Flush,
    /// Reads from an offset on.
    Poll(Offset),
}

/// What it is told.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// Taken in, at this offset.
    Appended(u64),
    /// Kept, up to and without this offset.
    Kept(u64),
    /// Read: so many messages.
    Read(u64),
}

struct Server {
    storage: OsStorage,
    host: Host<OsStorage>,
    workspace: Workspace,
    polled: Polled,
    /// A real server asks its clock; microseconds.
    now: u64,
}

impl Server {
    /// Starts on a data directory, whatever the last process left there.
    fn boot(data: &Path) -> Result<Self, Box<dyn Error>> {
        let mut server = Self {
            storage: OsStorage::open(data)?,
            host: Host::new(HostOptions::new())?,
            workspace: Workspace::new(WINDOW_BYTES),
            polled: Polled::default(),
            now: 1,
        };
        // The metadata log comes first: it says which partitions are meant to be there.
        while server.host.start(&server.storage, &mut server.workspace, SLICE_BYTES) == Progress::More {}
        server.judge();
        if server.host.newest(NAMESPACE).is_none() {
            let new = NewPartition {
                namespace: NAMESPACE,
                incarnation: Incarnation::new(1),
                replicas: 1,
                durability: Durability::Synced,
            };
            server.host.create(&server.storage, &new)?;
            while server.host.reconcile(&server.storage, &mut server.workspace, SLICE_BYTES) == Progress::More
            {
            }
        }
        server.tell();
        Ok(server)
    }

    /// Judges what is to be judged, a slice of each partition in turn.
    fn judge(&mut self) {
        loop {
            let pending: Vec<Namespace> = self.host.pending().collect();
            if pending.is_empty() {
                return;
            }
            for namespace in pending {
                self.host.step(&self.storage, namespace, &mut self.workspace, SLICE_BYTES);
            }
        }
    }

    /// Answers requests until there are no more.
    fn serve(&mut self, requests: impl IntoIterator<Item = Request>) -> Result<Vec<Answer>, ClientError> {
        let mut answers = Vec::new();
        for request in requests {
            answers.push(match request {
                Request::Append(text) => self.append(text)?,
                Request::Flush => Answer::Kept(self.host.flush(&self.storage, NAMESPACE)?.next_offset.get()),
                Request::Poll(from) => self.poll(from)?,
            });
            self.tell();
        }
        Ok(answers)
    }

    fn append(&mut self, text: &str) -> Result<Answer, ClientError> {
        self.now += 1;
        let mut batch = Vec::new();
        let mut builder = BatchBuilder::begin(&mut batch, self.now);
        builder
            .push(&Message { payload: text.as_bytes(), ..Message::default() })
            .expect("a line fits in a batch");
        builder.finish();
        let appended = self.host.produce(&self.storage, NAMESPACE, &batch, self.now)?;
        Ok(Answer::Appended(appended.base_offset.get()))
    }

    fn poll(&mut self, from: Offset) -> Result<Answer, ClientError> {
        let request = PollRequest { from, messages_max: 100, bytes_max: Length::new(1024 * 1024) };
        self.host.poll(&self.storage, NAMESPACE, &request, &mut self.workspace, &mut self.polled)?;
        Ok(Answer::Read(self.polled.messages()))
    }

    /// Prints what has happened: a refusal is told again at every start, with its reason.
    fn tell(&mut self) {
        for event in self.host.take_events() {
            println!("  {event}");
        }
    }
}

/// Ends the process in the middle of a write, as a kill does: dropping a server closes its files and writes nothing,
/// and part of the next batch lies behind the last whole one.
fn kill(server: Server, log: &Path) -> Result<(), Box<dyn Error>> {
    drop(server);
    OpenOptions::new().append(true).open(log)?.write_all(&[0x5a; 100])?;
    Ok(())
}

/// Two lives of a server, and what its clients are told in each.
fn run(data: &Path) -> Result<[Vec<Answer>; 2], Box<dyn Error>> {
    let log: PathBuf =
        data.join("streams/1/topics/1/partitions/0").join(FileName::log(SegmentStart::ZERO).to_string());

    println!("the first start");
    let mut server = Server::boot(data)?;
    let before = server.serve([
        Request::Append("kept"),
        Request::Append("kept, too"),
        Request::Flush,
        Request::Poll(Offset::ZERO),
        // Taken in and never flushed: nobody was promised anything.
        Request::Append("lost, and nobody was told otherwise"),
    ])?;
    kill(server, &log)?;

    println!("the start behind the kill");
    let mut server = Server::boot(data)?;
    let after = server.serve([Request::Poll(Offset::ZERO), Request::Append("behind it"), Request::Flush])?;
    let stopped = server.host.stop(&server.storage, NAMESPACE)?;
    println!("  stopped; the next message gets offset {}", stopped.next_offset);
    server.host.close(&server.storage);
    Ok([before, after])
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = tempfile::tempdir()?;
    for answers in run(data.path())? {
        println!("clients were told {answers:?}");
    }
    Ok(())
}

#[test]
fn what_was_flushed_is_there_again_and_what_was_not_is_gone() {
    let data = tempfile::tempdir().expect("a temporary directory can be made");
    let [before, after] = run(data.path()).expect("both lives of the server end well");
    assert_eq!(
        before,
        [Answer::Appended(0), Answer::Appended(1), Answer::Kept(2), Answer::Read(2), Answer::Appended(2)]
    );
    assert_eq!(after, [Answer::Read(2), Answer::Appended(2), Answer::Kept(3)]);
}
