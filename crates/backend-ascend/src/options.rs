//! What an [`AscendBackend`](crate::AscendBackend) is opened with.

use acl::{MallocPolicy, PageKind};

/// Where arenas come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ArenaSource {
    /// aclrtMalloc: one call an arena.
    #[default]
    Malloc,
    /// Virtual memory: one reservation an arena, every granule of it mapped to memory of its own.
    VirtualMemory,
}

/// Pages of arenas that come from aclrtMalloc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Pages {
    /// Pages of 2 MiB; the driver takes pages of 4 KiB where it has no others left.
    #[default]
    HugeFirst,
    /// Pages of 2 MiB or nothing.
    HugeOnly,
    /// Pages of 4 KiB.
    Normal,
}

/// Pages of virtual memory, which are also its granules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum VirtualPages {
    /// 2 MiB.
    #[default]
    Mib2,
    /// 1 GiB, on cards that have such pages set up.
    Gib1,
}

/// How an [`AscendBackend`](crate::AscendBackend) takes memory.
///
/// ```
/// use backend_ascend::{AscendOptions, Pages};
/// let options = AscendOptions::default().pages(Pages::HugeOnly).fall_back_to_normal_pages(true);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AscendOptions {
    pub(crate) arena_source: ArenaSource,
    pub(crate) pages: Pages,
    pub(crate) fall_back_to_normal_pages: bool,
    pub(crate) virtual_pages: VirtualPages,
    pub(crate) wait_before_free: bool,
}

impl Default for AscendOptions {
    /// Arenas by aclrtMalloc in huge pages first, virtual memory in granules of 2 MiB, and a wait before an arena goes.
    fn default() -> Self {
        Self {
            arena_source: ArenaSource::default(),
            pages: Pages::default(),
            fall_back_to_normal_pages: false,
            virtual_pages: VirtualPages::default(),
            wait_before_free: true,
        }
    }
}

impl AscendOptions {
    /// Where arenas come from.
    #[must_use]
    pub fn arena_source(mut self, source: ArenaSource) -> Self {
        self.arena_source = source;
        self
    }

    /// Pages of arenas that come from aclrtMalloc.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.pages = pages;
        self
    }

    /// Whether an arena that [`Pages::HugeOnly`] could not get is asked for once more in pages of 4 KiB. Such arenas are counted:
    /// [`Holdings::normal_page_arenas`](crate::Holdings::normal_page_arenas).
    #[must_use]
    pub fn fall_back_to_normal_pages(mut self, fall_back: bool) -> Self {
        self.fall_back_to_normal_pages = fall_back;
        self
    }

    /// Pages of virtual memory.
    #[must_use]
    pub fn virtual_pages(mut self, pages: VirtualPages) -> Self {
        self.virtual_pages = pages;
        self
    }

    /// Whether an arena goes back only after the card has done all work of the backend's context and of the contexts of
    /// registered streams. ACL itself frees and unmaps at once, whatever still uses the memory. On by default; off for a caller
    /// that has waited for the work that touches the arena itself.
    #[must_use]
    pub fn wait_before_free(mut self, wait: bool) -> Self {
        self.wait_before_free = wait;
        self
    }
}

impl Pages {
    pub(crate) fn policy(self) -> MallocPolicy {
        match self {
            Self::HugeFirst => MallocPolicy::HUGE_FIRST,
            Self::HugeOnly => MallocPolicy::HUGE_ONLY,
            Self::Normal => MallocPolicy::NORMAL_ONLY,
        }
    }
}

impl VirtualPages {
    pub(crate) fn kind(self) -> PageKind {
        match self {
            Self::Mib2 => PageKind::HUGE,
            Self::Gib1 => PageKind::HUGE_1G,
        }
    }
}
