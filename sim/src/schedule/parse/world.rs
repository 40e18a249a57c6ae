//! Reads the world's header.

use kdl::KdlNode;
use miette::SourceSpan;
use recovery_core::units::{Durability, Offset};

use super::error::{Misfit, ParseFault, Read};
use super::reader::{Reader, unknown_node};
use super::value::{NodeCount, Positive, WindowBytes};
use crate::schedule::step::NodeId;
use crate::schedule::world::{
    Image, PAGE_BYTES_DEFAULT, PartitionHeader, SECTOR_BYTES_DEFAULT, SEGMENT_BYTES_DEFAULT,
    WINDOW_BYTES_DEFAULT, WorldHeader,
};

pub(super) fn world(mut reader: Reader<'_>) -> Read<(WorldHeader, SourceSpan)> {
    let span = reader.span();
    let mut world = WorldHeader::new(reader.required("filesystem")?, reader.required("regime")?);
    world.nodes = reader.property_or("nodes", NodeCount(1))?.0;
    world.sector_bytes = reader.property_or("sector", Positive(SECTOR_BYTES_DEFAULT))?.0;
    world.page_bytes = reader.property_or("page", Positive(PAGE_BYTES_DEFAULT))?.0;
    world.window_bytes = reader.property_or("window", WindowBytes(WINDOW_BYTES_DEFAULT))?.0;
    if !world.page_bytes.is_multiple_of(world.sector_bytes) {
        let (page, sector) = (world.page_bytes, world.sector_bytes);
        return reader.misfit(ParseFault::Geometry { page, sector });
    }
    for node in reader.finish_entries()? {
        let reader = Reader::new(node)?;
        match reader.name() {
            "partition" => {
                let partition = partition(reader)?;
                if world.index_of(partition.namespace).is_some() {
                    return repeated(node, format!("partition {}", partition.namespace));
                }
                world.partitions.push(partition);
            }
            "image" => {
                let image = image(reader)?;
                if world.images.iter().any(|other| other.node == image.node) {
                    return repeated(node, format!("the image of node {}", image.node.0));
                }
                world.images.push(image);
            }
            _ => return unknown_node(node, "world", &["partition", "image"]),
        }
    }
    Ok((world, span))
}

fn repeated<T>(node: &KdlNode, name: String) -> Read<T> {
    Err(Misfit::at(node.name().span(), ParseFault::Repeated { name }))
}

fn partition(mut reader: Reader<'_>) -> Read<PartitionHeader> {
    let partition = PartitionHeader {
        namespace: reader.argument("a partition")?,
        durability: reader.property_or("durability", Durability::Buffered)?,
        ledger: reader.property_or("ledger", true)?,
        first_offset: reader.property_or("first-offset", Offset::ZERO)?,
        segment_bytes: reader.property_or("segment-bytes", SEGMENT_BYTES_DEFAULT)?,
        superblock_frontier: reader.property("superblock-frontier")?,
    };
    reader.finish()?;
    Ok(partition)
}

fn image(mut reader: Reader<'_>) -> Read<Image> {
    let image = Image {
        directory: reader.argument("a directory")?,
        node: reader.property_or("node", NodeId::default())?,
    };
    reader.finish()?;
    Ok(image)
}
