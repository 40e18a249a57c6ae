//! An object's own fields, in the order in which they were named.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// Names and values that go into the object around them.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(pub(super) Vec<(&'static str, Value)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
