//! Why a text is no schedule, pointing at the place.
//!
//! Promises: the first thing that is wrong, its permanent code, its line, and what would be right there.

use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use thiserror::Error;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseFault {
    /// It is no KDL 2.
    #[error("{message}")]
    Syntax {
        /// What the KDL parser says.
        message: String,
    },
    /// A node that the language does not have there.
    #[error("there is no node {name} in {parent}")]
    UnknownNode {
        /// The node.
        name: String,
        /// Where it stands.
        parent: String,
    },
    /// A node that must be there.
    #[error("the document has no node {name}")]
    MissingNode {
        /// The node.
        name: &'static str,
    },
    /// Something that may be said once.
    #[error("{name} is said twice")]
    Repeated {
        /// What.
        name: String,
    },
    /// A property that the node does not have.
    #[error("{node} has no property {name}")]
    UnknownProperty {
        /// The node.
        node: String,
        /// The property.
        name: String,
    },
    /// A property that the node must have.
    #[error("{node} needs the property {name}")]
    MissingProperty {
        /// The node.
        node: String,
        /// The property.
        name: &'static str,
    },
    /// An argument that the node does not take.
    #[error("{node} does not take this argument")]
    ExtraArgument {
        /// The node.
        node: String,
    },
    /// An argument that the node must have.
    #[error("{node} needs {what} as its argument")]
    MissingArgument {
        /// The node.
        node: String,
        /// What it stands for.
        what: &'static str,
    },
    /// Children of a node that has none.
    #[error("{node} has no children")]
    ExtraChildren {
        /// The node.
        node: String,
    },
    /// A type annotation; the language has none.
    #[error("the language has no type annotations")]
    Annotation,
    /// A value of another type.
    #[error("{name} wants {wanted}, and {found} is written")]
    WrongType {
        /// The property or argument.
        name: &'static str,
        /// What it wants.
        wanted: &'static str,
        /// What is written.
        found: String,
    },
    /// A number that is too small or too large.
    #[error("{name} wants a number from {least} to {most}, and {found} is written")]
    OutOfRange {
        /// The property or argument.
        name: &'static str,
        /// The smallest it takes.
        least: u64,
        /// The largest it takes.
        most: u64,
        /// What is written.
        found: String,
    },
    /// A word that is not one of the language's.
    #[error("{found} is not {kind}")]
    UnknownWord {
        /// What kind of word belongs there.
        kind: &'static str,
        /// What is written.
        found: String,
    },
    /// Two properties of which only one may be there.
    #[error("{node} takes {left} or {right}, not both")]
    Exclusive {
        /// The node.
        node: String,
        /// One.
        left: &'static str,
        /// The other.
        right: &'static str,
    },
    /// Two appends or plants of one batch.
    #[error("batch {batch} is made twice")]
    RepeatedBatch {
        /// Its id.
        batch: u32,
    },
    /// Something that only the unlimited regime has.
    #[error("the legal regime has no {what}")]
    Illegal {
        /// A fault kind, or a plant.
        what: &'static str,
    },
    /// A fault that means nothing where it stands.
    #[error("{kind} means nothing here: {why}")]
    Meaningless {
        /// Its kind.
        kind: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A page that is no whole number of sectors.
    #[error("a page of {page} bytes is no whole number of sectors of {sector} bytes")]
    Geometry {
        /// Bytes of a page.
        page: u32,
        /// Bytes of a sector.
        sector: u32,
    },
    /// A version that this build does not read.
    #[error("the document is of version {found}, and this build reads version {known}")]
    Version {
        /// What is written.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
}

impl ParseFault {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::UnknownNode { .. } => "unknown-node",
            Self::MissingNode { .. } => "missing-node",
            Self::Repeated { .. } => "repeated",
            Self::UnknownProperty { .. } => "unknown-property",
            Self::MissingProperty { .. } => "missing-property",
            Self::ExtraArgument { .. } => "extra-argument",
            Self::MissingArgument { .. } => "missing-argument",
            Self::ExtraChildren { .. } => "extra-children",
            Self::Annotation => "annotation",
            Self::WrongType { .. } => "wrong-type",
            Self::OutOfRange { .. } => "out-of-range",
            Self::UnknownWord { .. } => "unknown-word",
            Self::Exclusive { .. } => "exclusive",
            Self::RepeatedBatch { .. } => "repeated-batch",
            Self::Illegal { .. } => "illegal",
            Self::Meaningless { .. } => "meaningless",
            Self::Geometry { .. } => "geometry",
            Self::Version { .. } => "version",
        }
    }
}

/// A fault and its place, before the text is attached.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) fault: ParseFault,
    pub(super) span: SourceSpan,
    pub(super) help: Option<String>,
}

/// The result of reading a part of a document.
pub(super) type Read<T> = Result<T, Misfit>;

impl Misfit {
    pub(super) fn at(span: SourceSpan, fault: ParseFault) -> Self {
        Self { fault, span, help: None }
    }

    pub(super) fn with_help(span: SourceSpan, fault: ParseFault, help: String) -> Self {
        Self { fault, span, help: Some(help) }
    }
}

/// What is wrong with a text, and where. Shown by miette with the line itself.
#[derive(Clone, Debug, Error)]
#[error("{}", .0.fault)]
pub struct ParseError(Box<Located>);

#[derive(Clone, Debug)]
struct Located {
    fault: ParseFault,
    span: SourceSpan,
    help: Option<String>,
    name: String,
    text: NamedSource<Arc<str>>,
}

impl ParseError {
    pub(super) fn new(misfit: Misfit, name: &str, text: &str) -> Self {
        let Misfit { fault, span, help } = misfit;
        let text = NamedSource::new(name, Arc::from(text));
        Self(Box::new(Located { fault, span, help, name: name.to_owned(), text }))
    }

    /// What is wrong.
    pub fn fault(&self) -> &ParseFault {
        &self.0.fault
    }

    /// What the text was called.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The line of the place, counted from 1.
    pub fn line(&self) -> usize {
        let before = self.0.text.inner().get(..self.0.span.offset()).unwrap_or_else(|| self.0.text.inner());
        before.matches('\n').count() + 1
    }

    /// What would be right there, if that can be said in a line.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

impl Diagnostic for ParseError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.0.fault.code()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.0.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, self.0.span))))
    }
}
