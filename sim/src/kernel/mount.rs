//! A real filesystem on a loop device, which can be shut down as if the power went.
//!
//! Promises: what is made is unmade again when the value goes; what the machine lacks is said, with where to
//! get it. Leaves out: what is done on the mount.
//!
//! The filesystem is told to shut down by its own call (`FS_IOC_SHUTDOWN` with no flush of the log, through
//! `xfs_io`, which knows ext4 as well). From then on nothing reaches the device. What was written to it
//! before is in the cache of the file behind the loop device, and stays: the device's own cache is not
//! modelled by this, only the kernel's.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::schedule::Filesystem;

/// Bytes of the file behind the loop device: what `mkfs.xfs` takes at least, and some.
const DEVICE_BYTES: u64 = 512 << 20;

/// What the machine lacks for this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Not root.
    #[error("only root can mount a filesystem: run it as root")]
    Root,
    /// No loop devices.
    #[error("there is no /dev/loop-control: the kernel's loop driver is missing (modprobe loop)")]
    LoopDevices,
    /// Loop devices are there, and none is to be had, as in a container.
    #[error("no loop device is to be had here: {told}")]
    NoLoopDevice {
        /// What `losetup` said.
        told: String,
    },
    /// A program.
    #[error("{program} is not on the path: it comes with the package {package}")]
    Program {
        /// Its name.
        program: String,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// The kernel does not know the filesystem, or may not mount it.
    #[error("{filesystem} cannot be mounted here: {told}")]
    Mount {
        /// The name that `mount` knows it by.
        filesystem: &'static str,
        /// What `mount` said.
        told: String,
    },
}

/// Why a mount could not be had or kept.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The machine lacks something: nothing can be said.
    #[error("{0}")]
    Missing(#[from] Missing),
    /// Something failed that should not.
    #[error("{doing}: {told}")]
    Failed {
        /// What was done.
        doing: String,
        /// What was said of it.
        told: String,
    },
    /// A file of ours.
    #[error("the directory for the device: {0}")]
    Directory(#[from] io::Error),
}

/// A kind of real filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ext4 as it comes: metadata in a journal, data ordered before it.
    Ext4,
    /// XFS.
    Xfs,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Ext4, Self::Xfs];

    /// The name that `mount` knows it by.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }

    /// The model that it is held to.
    pub const fn model(self) -> Filesystem {
        match self {
            Self::Ext4 => Filesystem::Ext4Ordered,
            Self::Xfs => Filesystem::Xfs,
        }
    }

    /// The program that makes one, its package, and how it is asked for blocks of 4096 bytes.
    const fn maker(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Ext4 => ("mkfs.ext4", "e2fsprogs", &["-q", "-F", "-b", "4096"]),
            Self::Xfs => ("mkfs.xfs", "xfsprogs", &["-q", "-f", "-b", "size=4096"]),
        }
    }
}

/// What the machine lacks for a kind of filesystem, the mount itself apart.
///
/// # Errors
///
/// The first thing that is missing.
pub fn look_for(kind: Kind) -> Result<(), Missing> {
    if !rustix::process::geteuid().is_root() {
        return Err(Missing::Root);
    }
    if !Path::new("/dev/loop-control").exists() {
        return Err(Missing::LoopDevices);
    }
    let (maker, package, _) = kind.maker();
    let programs = [
        ("losetup", "mount"),
        ("mount", "mount"),
        ("umount", "mount"),
        (maker, package),
        ("xfs_io", "xfsprogs"),
    ];
    match programs.into_iter().find(|(program, _)| !is_on_path(program)) {
        Some((program, package)) => Err(Missing::Program { program: program.to_owned(), package }),
        None => Ok(()),
    }
}

fn is_on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|at| at.join(program).is_file()))
}

/// A filesystem that is mounted, but for the moment between a shutdown and the next mount.
#[derive(Debug)]
pub struct Mount {
    kind: Kind,
    device: String,
    is_mounted: bool,
    /// Holds the file behind the device and the place of the mount.
    scratch: TempDir,
}

impl Mount {
    /// Makes a filesystem and mounts it.
    ///
    /// # Errors
    ///
    /// What the machine lacks, or what failed.
    pub fn make(kind: Kind) -> Result<Self, MountError> {
        look_for(kind)?;
        let scratch = tempfile::Builder::new().prefix("sim-kernel-check-").tempdir()?;
        let image = scratch.path().join("device");
        fs::File::create(&image)?.set_len(DEVICE_BYTES)?;
        fs::create_dir(scratch.path().join("mount"))?;
        let device = match run("losetup", &["--find", "--show", &text(&image)]) {
            Err(MountError::Failed { told, .. }) => return Err(Missing::NoLoopDevice { told }.into()),
            answer => answer?.trim().to_owned(),
        };
        let mut mount = Self { kind, device, is_mounted: false, scratch };
        let (maker, _, options) = kind.maker();
        run(maker, &[options, &[&mount.device]].concat())?;
        match mount.mount() {
            Err(MountError::Failed { told, .. }) => {
                Err(Missing::Mount { filesystem: kind.code(), told }.into())
            }
            Err(error) => Err(error),
            Ok(()) => Ok(mount),
        }
    }

    /// Where it is mounted.
    pub fn point(&self) -> PathBuf {
        self.scratch.path().join("mount")
    }

    fn mount(&mut self) -> Result<(), MountError> {
        run("mount", &["-t", self.kind.code(), &self.device, &text(&self.point())])?;
        self.is_mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), MountError> {
        run("umount", &[&text(&self.point())])?;
        self.is_mounted = false;
        Ok(())
    }

    /// Shuts the filesystem down without flushing its log, and mounts it again: what it finds on the device
    /// is what it would find after the kernel died.
    ///
    /// # Errors
    ///
    /// What failed. The filesystem may be unmounted then.
    pub fn crash(&mut self) -> Result<(), MountError> {
        run("xfs_io", &["-x", "-c", "shutdown", &text(&self.point())])?;
        self.unmount()?;
        self.mount()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Nobody is left to be told, and what stays behind is a mount that the machine loses when it stops.
        if self.is_mounted {
            let _left_behind = self.unmount();
        }
        let _left_behind = run("losetup", &["--detach", &self.device]);
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs a program to its end; returns what it said.
fn run(program: &str, arguments: &[&str]) -> Result<String, MountError> {
    let failed = |told: String| MountError::Failed {
        doing: format!("{program} {}", arguments.join(" ")),
        told: told.trim().to_owned(),
    };
    let ran = Command::new(program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if ran.status.success() {
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    } else {
        Err(failed(String::from_utf8_lossy(&ran.stderr).into_owned()))
    }
}
