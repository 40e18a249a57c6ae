//! Sizes of the units that a disk moves.
//!
//! Promises: sector and page are powers of two and a page is 1 to 64 sectors, so that one `u64` holds a
//! bit for each sector of a page. Leaves out: blocks of another size than the page.

/// Most pages that one file may have. Larger files are refused with `EFBIG`, so that one wild position
/// cannot ask for gigabytes of page table.
pub const FILE_PAGES_MAX: u64 = 1 << 20;

/// How large a sector and a page are.
///
/// A sector is what the device writes whole or not at all; a page is what the cache and the filesystem's
/// block map work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    sector_shift: u32,
    page_shift: u32,
}

impl Geometry {
    /// Sectors of 512 and pages of 4096 bytes.
    pub const DEFAULT: Self = Self { sector_shift: 9, page_shift: 12 };

    /// Sectors of 64 and pages of 256 bytes: one batch spans a few sectors (FAULT_MODEL 3.3).
    pub const SMALL: Self = Self { sector_shift: 6, page_shift: 8 };

    /// Takes sizes in bytes, or `None` if they are no powers of two, if a sector is under 8 bytes, or if
    /// a page is not 1 to 64 sectors.
    pub const fn new(sector_bytes: u32, page_bytes: u32) -> Option<Self> {
        if !sector_bytes.is_power_of_two() || !page_bytes.is_power_of_two() || sector_bytes < 8 {
            return None;
        }
        if page_bytes < sector_bytes || page_bytes / sector_bytes > 64 || page_bytes > 1 << 16 {
            return None;
        }
        Some(Self { sector_shift: sector_bytes.trailing_zeros(), page_shift: page_bytes.trailing_zeros() })
    }

    /// Bytes of a sector.
    #[inline]
    pub const fn sector_bytes(self) -> u64 {
        1 << self.sector_shift
    }

    /// Bytes of a page.
    #[inline]
    pub const fn page_bytes(self) -> u64 {
        1 << self.page_shift
    }

    /// Sectors of a page, 1 to 64.
    #[inline]
    pub const fn sectors_per_page(self) -> u32 {
        1 << (self.page_shift - self.sector_shift)
    }

    /// Longest file in bytes.
    #[inline]
    pub const fn file_bytes_max(self) -> u64 {
        FILE_PAGES_MAX << self.page_shift
    }

    /// Which page of its file a byte lies in.
    #[inline]
    pub(super) fn page_of(self, position: u64) -> usize {
        index(position >> self.page_shift)
    }

    /// How many pages a file of `length` bytes has.
    #[inline]
    pub(super) fn page_count(self, length: u64) -> usize {
        index(length.div_ceil(self.page_bytes()))
    }

    /// Where a page starts in its file.
    #[inline]
    pub(super) const fn page_start(self, page: usize) -> u64 {
        (page as u64) << self.page_shift
    }

    /// Where a byte lies in its page.
    #[inline]
    pub(super) fn within_page(self, position: u64) -> usize {
        index(position & (self.page_bytes() - 1))
    }

    /// Which sector of its file a byte lies in.
    #[inline]
    pub(super) fn sector_of(self, position: u64) -> u32 {
        narrow(position >> self.sector_shift)
    }

    /// How many sectors hold `length` bytes.
    #[inline]
    pub(super) fn sector_count(self, length: u64) -> u32 {
        narrow(length.div_ceil(self.sector_bytes()))
    }

    /// Where a sector starts in its file.
    #[inline]
    pub(super) const fn sector_start(self, sector: u32) -> u64 {
        (sector as u64) << self.sector_shift
    }

    /// Power of two of the sector's bytes.
    #[inline]
    pub(super) const fn sector_shift(self) -> u32 {
        self.sector_shift
    }
}

/// A number of bytes or of pages as an index into memory.
#[inline]
pub(super) fn index(value: u64) -> usize {
    usize::try_from(value).expect("a position in a simulated file fits the address space")
}

/// A number of sectors or of operations, of which no world has 2^32.
#[inline]
pub(super) fn narrow(value: u64) -> u32 {
    u32::try_from(value).expect("a simulated disk has under 2^32 sectors and operations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_powers_of_two_with_1_to_64_sectors_a_page_are_a_geometry() {
        let verdicts =
            [(512, 4096), (64, 256), (4096, 4096), (64, 4096), (8, 1024), (512, 256), (500, 4000), (4, 16)]
                .map(|(sector, page)| Geometry::new(sector, page).is_some());
        assert_eq!(verdicts, [true, true, true, true, false, false, false, false]);
        assert_eq!(Geometry::new(512, 4096), Some(Geometry::DEFAULT));
        assert_eq!(Geometry::new(64, 256), Some(Geometry::SMALL));
    }
}
