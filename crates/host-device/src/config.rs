//! What a simulated device is like: its capacity and the rules for its ranges and blocks.

use crate::clock::ClockMode;
use crate::error::HostDeviceError;

/// Facts about a [`HostDevice`](crate::HostDevice), fixed when it is made.
///
/// Made by [`HostDeviceConfig::new`] and changed by the `with_` methods; checked by
/// [`HostDevice::new`](crate::HostDevice::new).
///
/// ```
/// use host_device::HostDeviceConfig;
/// // The rules of Ascend devices before the 950.
/// let config = HostDeviceConfig::new(8 << 30).with_name("npu").with_block_alignment(64).with_padding(32, 32);
/// assert_eq!(config.granularity, 2 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostDeviceConfig {
    /// Name for people. Default `host`.
    pub name: String,
    /// Bytes that the device pretends to have. 0 makes a device on which every allocation fails.
    pub capacity: u64,
    /// Sizes of ranges are multiples of this many bytes, at least 1. Default 2 MiB.
    pub granularity: u64,
    /// Bases of ranges are multiples of this many bytes, a power of two. Default 2 MiB.
    pub base_alignment: u64,
    /// Alignment in bytes that kernels want for every block, a power of two. Default 1. The device only reports it.
    pub block_alignment: u64,
    /// Tail padding: a block's bytes are first rounded up to a multiple of this many bytes, a power of two. Default 1.
    /// The device only reports it.
    pub padding_round_to: u64,
    /// Tail padding: this many bytes are then added. Default 0. The device only reports it.
    pub padding_extra: u64,
    /// Physical memory is made, and mapped at, multiples of this many bytes; a power of two of at least a host page.
    /// Default 2 MiB.
    pub virtual_granule: u64,
    /// Whether one piece of physical memory may be mapped at several addresses at once. Default no.
    pub aliased_mappings: bool,
    /// How time passes. Default [`ClockMode::Manual`].
    pub clock: ClockMode,
}

impl HostDeviceConfig {
    const MIB_2: u64 = 2 << 20;

    /// A device of `capacity` bytes with 2 MiB granularity and alignment, and no wishes about blocks.
    pub fn new(capacity: u64) -> Self {
        Self {
            name: String::from("host"),
            capacity,
            granularity: Self::MIB_2,
            base_alignment: Self::MIB_2,
            block_alignment: 1,
            padding_round_to: 1,
            padding_extra: 0,
            virtual_granule: Self::MIB_2,
            aliased_mappings: false,
            clock: ClockMode::Manual,
        }
    }

    /// Sets [`Self::name`].
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets [`Self::granularity`], in bytes.
    #[must_use]
    pub fn with_granularity(mut self, granularity: u64) -> Self {
        self.granularity = granularity;
        self
    }

    /// Sets [`Self::base_alignment`], in bytes.
    #[must_use]
    pub fn with_base_alignment(mut self, alignment: u64) -> Self {
        self.base_alignment = alignment;
        self
    }

    /// Sets [`Self::block_alignment`], in bytes.
    #[must_use]
    pub fn with_block_alignment(mut self, alignment: u64) -> Self {
        self.block_alignment = alignment;
        self
    }

    /// Sets [`Self::padding_round_to`] and [`Self::padding_extra`], in bytes.
    #[must_use]
    pub fn with_padding(mut self, round_to: u64, extra: u64) -> Self {
        self.padding_round_to = round_to;
        self.padding_extra = extra;
        self
    }

    /// Sets [`Self::virtual_granule`], in bytes.
    #[must_use]
    pub fn with_virtual_granule(mut self, granule: u64) -> Self {
        self.virtual_granule = granule;
        self
    }

    /// Sets [`Self::aliased_mappings`].
    #[must_use]
    pub fn with_aliased_mappings(mut self, allowed: bool) -> Self {
        self.aliased_mappings = allowed;
        self
    }

    /// Sets [`Self::clock`].
    #[must_use]
    pub fn with_clock(mut self, clock: ClockMode) -> Self {
        self.clock = clock;
        self
    }

    /// Refuses what no device can be like.
    pub(crate) fn check(&self) -> Result<(), HostDeviceError> {
        let refuse = |parameter, value, rule| Err(HostDeviceError::InvalidConfig { parameter, value, rule });
        if self.granularity == 0 {
            return refuse("granularity", 0, "at least 1");
        }
        for (parameter, value) in [
            ("base_alignment", self.base_alignment),
            ("block_alignment", self.block_alignment),
            ("padding_round_to", self.padding_round_to),
        ] {
            if !value.is_power_of_two() {
                return refuse(parameter, value, "a power of two");
            }
        }
        check_granule(self.virtual_granule)
    }
}

/// Refuses a granule of virtual memory that the host cannot map.
pub(crate) fn check_granule(granule: u64) -> Result<(), HostDeviceError> {
    let page = rustix::param::page_size() as u64;
    if granule.is_power_of_two() && granule >= page {
        return Ok(());
    }
    let rule = "a power of two of at least a page of the host";
    Err(HostDeviceError::InvalidConfig { parameter: "virtual_granule", value: granule, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_refused(config: &HostDeviceConfig, name: &str) {
        let error = config.check().unwrap_err();
        assert!(
            matches!(error, HostDeviceError::InvalidConfig { parameter, .. } if parameter == name),
            "{error}"
        );
    }

    #[test]
    fn defaults_are_accepted_for_any_capacity() {
        for capacity in [0, 1, 2 << 20, u64::MAX] {
            assert!(HostDeviceConfig::new(capacity).check().is_ok(), "{capacity}");
        }
    }

    #[test]
    fn what_no_device_can_be_like_is_refused_by_name() {
        let good = || HostDeviceConfig::new(1 << 30);
        assert_refused(&good().with_granularity(0), "granularity");
        for bad in [0, 3, u64::MAX] {
            assert_refused(&good().with_base_alignment(bad), "base_alignment");
            assert_refused(&good().with_block_alignment(bad), "block_alignment");
            assert_refused(&good().with_padding(bad, 0), "padding_round_to");
        }
        for bad in [0, 1, 512, 3 << 20] {
            assert_refused(&good().with_virtual_granule(bad), "virtual_granule");
        }
    }

    #[test]
    fn a_granularity_need_not_be_a_power_of_two() {
        assert!(HostDeviceConfig::new(1 << 30).with_granularity(3 << 20).check().is_ok());
    }
}
