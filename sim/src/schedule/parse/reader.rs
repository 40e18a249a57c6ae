//! Reads one KDL node: its arguments, its properties, its children, and then nothing may be left.
//!
//! Promises: nothing that is written is passed over in silence.

use kdl::{KdlEntry, KdlNode};
use miette::SourceSpan;

use super::error::{Misfit, ParseFault, Read};
use super::value::Value;

/// A node of which everything must be asked for.
pub(super) struct Reader<'a> {
    node: &'a KdlNode,
    /// Entries that nobody has asked for yet.
    left: Vec<&'a KdlEntry>,
    /// Properties that were asked for, for the help text.
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(node: &'a KdlNode) -> Read<Self> {
        if let Some(annotation) = node.ty() {
            return Err(Misfit::at(annotation.span(), ParseFault::Annotation));
        }
        let mut seen: Vec<&str> = Vec::new();
        for entry in node.entries() {
            if entry.ty().is_some() {
                return Err(Misfit::at(entry.span(), ParseFault::Annotation));
            }
            let Some(name) = entry.name() else { continue };
            if seen.contains(&name.value()) {
                let fault = ParseFault::Repeated { name: name.value().to_owned() };
                return Err(Misfit::at(entry.span(), fault));
            }
            seen.push(name.value());
        }
        Ok(Self { node, left: node.entries().iter().collect(), known: Vec::new() })
    }

    pub(super) fn name(&self) -> &'a str {
        self.node.name().value()
    }

    pub(super) fn span(&self) -> SourceSpan {
        self.node.name().span()
    }

    /// An error about the whole node.
    pub(super) fn misfit<T>(&self, fault: ParseFault) -> Read<T> {
        Err(Misfit::at(self.span(), fault))
    }

    /// The next argument, if there is one.
    pub(super) fn next_argument<V: Value>(&mut self, what: &'static str) -> Read<Option<V>> {
        let found = self.left.iter().position(|entry| entry.name().is_none());
        found.map(|index| read(self.left.remove(index), what)).transpose()
    }

    /// The next argument, which must be there.
    pub(super) fn argument<V: Value>(&mut self, what: &'static str) -> Read<V> {
        let node = self.name().to_owned();
        match self.next_argument(what)? {
            Some(value) => Ok(value),
            None => self.misfit(ParseFault::MissingArgument { node, what }),
        }
    }

    /// All arguments that are left.
    pub(super) fn arguments<V: Value>(&mut self, what: &'static str) -> Read<Vec<V>> {
        let mut values = vec![self.argument(what)?];
        while let Some(value) = self.next_argument(what)? {
            values.push(value);
        }
        Ok(values)
    }

    /// A property, if it is there.
    pub(super) fn property<V: Value>(&mut self, name: &'static str) -> Read<Option<V>> {
        self.known.push(name);
        let is_it = |entry: &&KdlEntry| entry.name().is_some_and(|found| found.value() == name);
        let found = self.left.iter().position(is_it);
        found.map(|index| read(self.left.remove(index), name)).transpose()
    }

    /// A property that must be there.
    pub(super) fn required<V: Value>(&mut self, name: &'static str) -> Read<V> {
        let node = self.name().to_owned();
        match self.property(name)? {
            Some(value) => Ok(value),
            None => self.misfit(ParseFault::MissingProperty { node, name }),
        }
    }

    /// A property or its default.
    pub(super) fn property_or<V: Value>(&mut self, name: &'static str, default: V) -> Read<V> {
        Ok(self.property(name)?.unwrap_or(default))
    }

    /// Whether a property is written, without taking it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.iter().any(|entry| entry.name().is_some_and(|found| found.value() == name))
    }

    /// Refuses two properties that exclude each other.
    pub(super) fn not_both(&self, left: &'static str, right: &'static str) -> Read<()> {
        if self.has(left) && self.has(right) {
            return self.misfit(ParseFault::Exclusive { node: self.name().to_owned(), left, right });
        }
        Ok(())
    }

    /// Ends the reading of a node without children.
    pub(super) fn finish(self) -> Read<()> {
        match self.node.children() {
            Some(children) if !children.nodes().is_empty() => {
                let node = self.name().to_owned();
                Err(Misfit::at(children.nodes()[0].name().span(), ParseFault::ExtraChildren { node }))
            }
            Some(_) | None => self.finish_entries().map(|_| ()),
        }
    }

    /// Ends the reading of a node's own line, and hands over its children.
    pub(super) fn finish_entries(self) -> Read<&'a [KdlNode]> {
        let Some(entry) = self.left.first() else {
            return Ok(self.node.children().map_or(&[], |children| children.nodes()));
        };
        let node = self.name().to_owned();
        match entry.name() {
            None => Err(Misfit::at(entry.span(), ParseFault::ExtraArgument { node })),
            Some(name) => {
                let fault = ParseFault::UnknownProperty { node, name: name.value().to_owned() };
                Err(Misfit::with_help(entry.span(), fault, known_properties(&self.known)))
            }
        }
    }
}

fn known_properties(known: &[&'static str]) -> String {
    match known {
        [] => "it has none".to_owned(),
        some => format!("it has: {}", some.join(" ")),
    }
}

fn read<V: Value>(entry: &KdlEntry, name: &'static str) -> Read<V> {
    V::read(entry.value()).map_err(|unfit| {
        let (fault, help) = unfit.fault::<V>(name, entry.value());
        Misfit { fault, span: entry.span(), help }
    })
}

/// The error for a node that does not belong where it stands.
pub(super) fn unknown_node<T>(node: &KdlNode, parent: &str, known: &[&str]) -> Read<T> {
    let fault = ParseFault::UnknownNode { name: node.name().value().to_owned(), parent: parent.to_owned() };
    Err(Misfit::with_help(node.name().span(), fault, format!("one of: {}", known.join(" "))))
}
