//! What a pool can be told, checked when it is built.

use std::fmt;
use std::str::FromStr;

use crate::units::Bytes;

/// How a free block is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FitPolicy {
    /// The smallest block that suffices: O(1), and the better packing on most recordings.
    #[default]
    BestFit,
    /// The lowest-addressed block that suffices: a scan of at most 128 entries, and the better packing where large blocks come
    /// and go beside long-lived ones (detectors with changing image sizes).
    FirstFit,
}

impl FitPolicy {
    /// Both policies.
    pub const ALL: [Self; 2] = [Self::BestFit, Self::FirstFit];

    /// `best-fit` or `first-fit`, as the command line writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BestFit => "best-fit",
            Self::FirstFit => "first-fit",
        }
    }
}

impl fmt::Display for FitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no fit policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no fit policy; use BEST_FIT or FIRST_FIT")]
pub struct ParseFitPolicyError {
    /// The text as given.
    pub text: String,
}

impl FromStr for FitPolicy {
    type Err = ParseFitPolicyError;

    /// Takes `BEST_FIT` and `best-fit`, in any case, and the same for first fit.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().to_ascii_lowercase().replace('_', "-").as_str() {
            "best-fit" => Ok(Self::BestFit),
            "first-fit" => Ok(Self::FirstFit),
            _ => Err(ParseFitPolicyError { text: text.to_owned() }),
        }
    }
}

/// What arenas are made of.
///
/// ```
/// # use std::sync::Arc;
/// use mempool_core::{AddressDevice, ArenaKind, Bytes, Pool, PoolConfig};
/// let config = PoolConfig::builder().arena_kind(ArenaKind::Virtual).max_size(Bytes::mib(16)).build()?;
/// let pool = Pool::new(Arc::new(AddressDevice::new(Bytes::gib(1))), config)?;
/// let blocks = (0..8).map(|_| pool.allocate(Bytes::mib(2))).collect::<Result<Vec<_>, _>>()?;
/// let kept: Vec<_> = blocks.into_iter().step_by(2).collect();
///
/// // Four pieces of 2 MiB are free, no two beside each other.
/// let large = pool.allocate(Bytes::mib(8))?;
/// assert_eq!(pool.status().total, Bytes::mib(16));
/// # drop((kept, large));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArenaKind {
    /// Ranges that the device hands out, addresses and memory in one.
    #[default]
    Plain,
    /// Addresses, far more than there is memory, behind which granules of memory (2 MiB on Ascend) are mapped where requests need them.
    /// Whole free granules serve any request, wherever they are: at the limit they are mapped elsewhere. Freeing maps and unmaps nothing.
    ///
    /// Unmapping does not wait for work on the device: a pool without streams must be given back only what the device is done with, as it must
    /// before any [`Pool::trim`](crate::Pool::trim).
    ///
    /// On a device without virtual memory the pool takes plain arenas and says so by a `tracing` warning.
    Virtual,
}

impl ArenaKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Virtual];

    /// `plain` or `virtual`, as the command line writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Virtual => "virtual",
        }
    }
}

impl fmt::Display for ArenaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no kind of arena.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no kind of arena; use PLAIN or VIRTUAL")]
pub struct ParseArenaKindError {
    /// The text as given.
    pub text: String,
}

impl FromStr for ArenaKind {
    type Err = ParseArenaKindError;

    /// Takes `PLAIN` and `VIRTUAL`, in any case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim().to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| ParseArenaKindError { text: text.to_owned() })
    }
}

/// Smallest arena that a pool asks for by itself, unless told otherwise.
pub const DEFAULT_ARENA_SIZE: Bytes = Bytes::mib(32);

/// How memory that was freed on one stream may reach another. All on by default.
///
/// The names are those of CANN's own stream-ordered pool (`ACL_RT_MEM_POOL_REUSE_...`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamReuse {
    /// Where the caller has made the other stream wait, and has said so by [`Pool::note_wait`](crate::Pool::note_wait).
    pub event_dependencies: bool,
    /// Where the work before the free turns out to be done.
    pub opportunistic: bool,
    /// By making the other stream wait, on the device, when nothing else serves. Off, no allocation ever makes a stream wait: for
    /// callers to whom latency is dearer than memory.
    pub internal_dependencies: bool,
}

impl Default for StreamReuse {
    fn default() -> Self {
        Self { event_dependencies: true, opportunistic: true, internal_dependencies: true }
    }
}

/// What a pool is told when it is built. Fields are private, so that a value of this type is always valid.
///
/// ```
/// use mempool_core::{Bytes, FitPolicy, PoolConfig};
/// let config = PoolConfig::builder().name("bert").max_size(Bytes::gib(8)).policy(FitPolicy::FirstFit).build()?;
/// assert_eq!(config.max_size(), Some(Bytes::gib(8)));
/// # Ok::<(), mempool_core::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    name: String,
    policy: FitPolicy,
    max_size: Option<Bytes>,
    initial_size: Bytes,
    arena_size: Bytes,
    arena_kind: ArenaKind,
    stream_reuse: StreamReuse,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            name: "pool".to_owned(),
            policy: FitPolicy::default(),
            max_size: None,
            initial_size: Bytes::ZERO,
            arena_size: DEFAULT_ARENA_SIZE,
            arena_kind: ArenaKind::default(),
            stream_reuse: StreamReuse::default(),
        }
    }
}

impl PoolConfig {
    /// Starts from the defaults.
    pub fn builder() -> PoolConfigBuilder {
        PoolConfigBuilder::default()
    }

    /// Starts from this configuration, to change some of it.
    pub fn to_builder(&self) -> PoolConfigBuilder {
        PoolConfigBuilder { config: self.clone() }
    }

    /// Name for people, in errors, events and reports. Default `pool`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How free blocks are chosen. Default [`FitPolicy::BestFit`].
    pub const fn policy(&self) -> FitPolicy {
        self.policy
    }

    /// Most bytes that the pool may take from the device. Default `None`: as much as the device has.
    pub const fn max_size(&self) -> Option<Bytes> {
        self.max_size
    }

    /// Bytes taken from the device when the pool is built. Default 0: the first arena comes with the first allocation.
    pub const fn initial_size(&self) -> Bytes {
        self.initial_size
    }

    /// Smallest arena that the pool asks for when it grows. It asks for less when the limit or the device does not allow
    /// so much. Default [`DEFAULT_ARENA_SIZE`]. Of no meaning with [`ArenaKind::Virtual`], where the pool takes what requests need.
    pub const fn arena_size(&self) -> Bytes {
        self.arena_size
    }

    /// What arenas are made of. Default [`ArenaKind::Plain`].
    pub const fn arena_kind(&self) -> ArenaKind {
        self.arena_kind
    }

    /// How memory that was freed on one stream may reach another. Default: all ways.
    pub const fn stream_reuse(&self) -> StreamReuse {
        self.stream_reuse
    }
}

/// Builds a [`PoolConfig`].
#[derive(Debug, Clone, Default)]
#[must_use = "call build()"]
pub struct PoolConfigBuilder {
    config: PoolConfig,
}

impl PoolConfigBuilder {
    /// Sets [`PoolConfig::name`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.config.name = name.into();
        self
    }

    /// Sets [`PoolConfig::policy`].
    pub fn policy(mut self, policy: FitPolicy) -> Self {
        self.config.policy = policy;
        self
    }

    /// Sets [`PoolConfig::max_size`].
    pub fn max_size(mut self, bytes: Bytes) -> Self {
        self.config.max_size = Some(bytes);
        self
    }

    /// Takes [`PoolConfig::max_size`] away: as much as the device has.
    pub fn no_max_size(mut self) -> Self {
        self.config.max_size = None;
        self
    }

    /// Sets [`PoolConfig::initial_size`].
    pub fn initial_size(mut self, bytes: Bytes) -> Self {
        self.config.initial_size = bytes;
        self
    }

    /// Sets [`PoolConfig::arena_size`].
    pub fn arena_size(mut self, bytes: Bytes) -> Self {
        self.config.arena_size = bytes;
        self
    }

    /// Sets [`PoolConfig::arena_kind`].
    pub fn arena_kind(mut self, kind: ArenaKind) -> Self {
        self.config.arena_kind = kind;
        self
    }

    /// Sets [`PoolConfig::stream_reuse`].
    pub fn stream_reuse(mut self, reuse: StreamReuse) -> Self {
        self.config.stream_reuse = reuse;
        self
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the first value that makes no sense.
    pub fn build(self) -> Result<PoolConfig, ConfigError> {
        let PoolConfig { max_size, initial_size, arena_size, .. } = self.config;
        if max_size == Some(Bytes::ZERO) {
            return Err(ConfigError::Zero { setting: "max_size" });
        }
        if arena_size.is_zero() {
            return Err(ConfigError::Zero { setting: "arena_size" });
        }
        match max_size {
            Some(max_size) if initial_size > max_size => {
                Err(ConfigError::InitialOverMax { initial_size, max_size })
            }
            _ => Ok(self.config),
        }
    }
}

/// A configuration that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A size that must not be 0 is.
    #[error("{setting} is 0 bytes; give a positive size such as 8GiB")]
    Zero {
        /// Name of the setting.
        setting: &'static str,
    },
    /// The pool would start larger than it may become.
    #[error(
        "initial_size is {initial_size}, more than max_size, {max_size}; lower the one or raise the other"
    )]
    InitialOverMax {
        /// As given.
        initial_size: Bytes,
        /// As given.
        max_size: Bytes,
    },
    /// An environment variable holds what it must not.
    #[error("environment variable {variable} is {value:?}: {reason}; allowed: {allowed}")]
    Variable {
        /// Name of the variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: String,
        /// What is allowed.
        allowed: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_in_the_articles_and_the_command_lines_spelling() {
        for text in ["BEST_FIT", "best-fit", " Best_Fit "] {
            assert_eq!(text.parse(), Ok(FitPolicy::BestFit));
        }
        for policy in FitPolicy::ALL {
            assert_eq!(policy.name().parse(), Ok(policy));
        }
        assert!("WORST_FIT".parse::<FitPolicy>().is_err());
    }

    #[test]
    fn kinds_of_arenas_are_read_in_both_spellings() {
        for kind in ArenaKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.name().to_uppercase().parse(), Ok(kind));
        }
        assert!("PAGED".parse::<ArenaKind>().is_err());
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused_by_name() {
        let built = PoolConfig::builder().max_size(Bytes::ZERO).build();
        assert_eq!(built, Err(ConfigError::Zero { setting: "max_size" }));
        let built = PoolConfig::builder().arena_size(Bytes::ZERO).build();
        assert_eq!(built, Err(ConfigError::Zero { setting: "arena_size" }));
        let built = PoolConfig::builder().max_size(Bytes::mib(1)).initial_size(Bytes::mib(2)).build();
        assert!(matches!(built, Err(ConfigError::InitialOverMax { .. })));
    }

    #[test]
    fn a_builder_made_from_a_configuration_keeps_it() {
        let config = PoolConfig::builder().name("a").max_size(Bytes::gib(1)).build().unwrap();
        assert_eq!(config.to_builder().build(), Ok(config));
    }
}
