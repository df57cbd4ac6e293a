//! Who owns which block of memory, on which streams, and who owned it before: the race detector for pools.
//!
//! # Invariants
//!
//! * I1: live blocks do not overlap each other, nor do retired parts; no retired part overlaps a live block.
//! * I2: `uses` of a block has, for each stream, the last operation that touched it; those before it are ordered
//!   before it.
//! * I3: a former owner's pending operations stay known until they are complete or were reported.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::StreamId;
use crate::engine::hazard::{Hazard, HazardKind};
use crate::engine::queue::{Streams, is_ordered, is_pending};
use crate::identity::{Identity, Life, Place};

/// On which streams a block may be touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockStreams {
    /// On every stream at once: all work of former owners must be done.
    Any,
    /// On these. The first is the one in whose order the block was handed out: it must come after the former owners'
    /// work when the block is declared, the others when they first touch it.
    Only(Vec<StreamId>),
}

impl From<StreamId> for BlockStreams {
    fn from(stream: StreamId) -> Self {
        Self::Only(vec![stream])
    }
}

impl BlockStreams {
    fn allow(&self, stream: StreamId) -> bool {
        match self {
            Self::Any => true,
            Self::Only(streams) => streams.contains(&stream),
        }
    }
}

/// Where and when something is done to a range of memory.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    pub(super) base: u64,
    pub(super) size: u64,
    pub(super) user: Place,
}

impl Deed {
    fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    fn hazard(&self, kind: HazardKind, before: Option<Life>, after: Option<Life>) -> Hazard {
        let detail = Cow::Borrowed("");
        let (user, found_at) = (self.user.clone(), self.user.at);
        Hazard { kind, address: self.base, length: self.size, user, found_at, before, after, detail }
    }
}

/// The last operation of each stream that touched a block.
type Uses = BTreeMap<StreamId, u64>;

#[derive(Debug, Clone)]
struct Former {
    life: Life,
    uses: Uses,
}

#[derive(Debug)]
struct Block {
    allowed: BlockStreams,
    life: Life,
    uses: Uses,
    formers: Vec<Former>,
    memory: Option<Arc<Identity>>,
}

/// A part of what was a block; its last owner is the first of `formers`.
#[derive(Debug)]
struct Retired {
    size: u64,
    formers: Arc<[Former]>,
    memory: Option<Arc<Identity>>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    live: BTreeMap<u64, Block>,
    retired: BTreeMap<u64, Retired>,
    last_owner: u64,
    /// The retired parts are looked through for dead memory when they become this many.
    sweep_at: usize,
}

impl Ledger {
    const LEAST_SWEEP: usize = 1024;

    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    /// Enters a block and reports what of its former owners is not done before it.
    pub(super) fn declare(
        &mut self,
        deed: &Deed,
        allowed: BlockStreams,
        memory: Option<Arc<Identity>>,
        streams: &Streams,
    ) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        self.last_owner += 1;
        let began = deed.user.clone();
        let life = Life { generation: self.last_owner, base: deed.base, size: deed.size, began, ended: None };
        for base in overlapping(&self.live, deed, |block| block.life.size) {
            let Some(block) = self.live.remove(&base) else { continue };
            if is_alive(block.memory.as_ref()) {
                let before = Some(block.life.clone());
                hazards.push(deed.hazard(HazardKind::OverlappingBlocks, before, Some(life.clone())));
                self.bury(block, &deed.user, streams);
            }
        }
        let mut formers = self.take_retired(deed);
        for former in &mut formers {
            let mut early = None;
            former.uses.retain(|&stream, &mut sequence| {
                if !is_pending(streams, stream, sequence) {
                    return false;
                }
                let ordered = match &allowed {
                    BlockStreams::Any => false,
                    BlockStreams::Only(only) => {
                        only.first().is_some_and(|&first| is_ordered(streams, first, stream, sequence))
                    }
                };
                if !ordered {
                    early.get_or_insert((stream, sequence));
                }
                ordered
            });
            if let Some(pending) = early {
                let (before, after) = (Some(former.life.clone()), Some(life.clone()));
                let hazard = deed.hazard(HazardKind::HandedOutEarly, before, after);
                hazards.push(Hazard { detail: pending_words(pending), ..hazard });
            }
        }
        formers.retain(|former| !former.uses.is_empty());
        self.live.insert(deed.base, Block { allowed, life, uses: Uses::new(), formers, memory });
        hazards
    }

    /// Lets one more stream touch a block. Answers whether there is such a block.
    pub(super) fn allow(&mut self, base: u64, stream: StreamId) -> bool {
        let Some(block) = self.live.get_mut(&base) else { return false };
        if let BlockStreams::Only(streams) = &mut block.allowed
            && !streams.contains(&stream)
        {
            streams.push(stream);
        }
        true
    }

    /// Ends the ownership of a block. Answers whether there is such a block.
    pub(super) fn retire(&mut self, deed: &Deed, streams: &Streams) -> bool {
        if self.live.get(&deed.base).is_none_or(|block| block.life.size != deed.size) {
            return false;
        }
        if let Some(block) = self.live.remove(&deed.base) {
            self.bury(block, &deed.user, streams);
        }
        self.sweep();
        true
    }

    /// Notes that operation `sequence` of `stream` will touch memory, and reports whether it may.
    pub(super) fn touch(
        &mut self,
        deed: &Deed,
        stream: StreamId,
        sequence: u64,
        streams: &Streams,
    ) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        for base in overlapping(&self.live, deed, |block| block.life.size) {
            let Some(block) = self.live.get_mut(&base) else { continue };
            if !is_alive(block.memory.as_ref()) {
                self.live.remove(&base);
                continue;
            }
            if !block.allowed.allow(stream) {
                hazards.push(deed.hazard(HazardKind::StreamNotDeclared, None, Some(block.life.clone())));
            }
            for former in &mut block.formers {
                let mut racing = None;
                former.uses.retain(|&other, &mut last| {
                    let pending = is_pending(streams, other, last);
                    let racy = pending && !is_ordered(streams, stream, other, last);
                    if racy {
                        racing.get_or_insert((other, last));
                    }
                    pending && !racy
                });
                if let Some(pending) = racing {
                    let (before, after) = (Some(former.life.clone()), Some(block.life.clone()));
                    let hazard = deed.hazard(HazardKind::RaceWithFormerOwner, before, after);
                    hazards.push(Hazard { detail: pending_words(pending), ..hazard });
                }
            }
            block.formers.retain(|former| !former.uses.is_empty());
            block.uses.insert(stream, sequence);
        }
        for base in overlapping(&self.retired, deed, |retired| retired.size) {
            let Some(retired) = self.retired.get(&base) else { continue };
            if is_alive(retired.memory.as_ref()) {
                let before = retired.formers.first().map(|former| former.life.clone());
                hazards.push(deed.hazard(HazardKind::RetiredBlock, before, None));
            } else {
                self.retired.remove(&base);
            }
        }
        hazards
    }

    /// Makes a live block a retired part.
    fn bury(&mut self, block: Block, ended: &Place, streams: &Streams) {
        let (base, size) = (block.life.base, block.life.size);
        let last = Former { life: Life { ended: Some(ended.clone()), ..block.life }, uses: block.uses };
        let mut formers: Vec<Former> = std::iter::once(last).chain(block.formers).collect();
        for former in &mut formers {
            former.uses.retain(|&stream, &mut sequence| is_pending(streams, stream, sequence));
        }
        let mut first = true;
        formers.retain(|former| std::mem::take(&mut first) || !former.uses.is_empty());
        self.retired.insert(base, Retired { size, formers: formers.into(), memory: block.memory });
    }

    /// Cuts the retired parts under a new block away and answers their owners, each once.
    fn take_retired(&mut self, deed: &Deed) -> Vec<Former> {
        let mut formers: BTreeMap<u64, Former> = BTreeMap::new();
        for base in overlapping(&self.retired, deed, |retired| retired.size) {
            let Some(retired) = self.retired.remove(&base) else { continue };
            if !is_alive(retired.memory.as_ref()) {
                continue;
            }
            for former in retired.formers.iter() {
                formers.entry(former.life.generation).or_insert_with(|| former.clone());
            }
            let end = base.saturating_add(retired.size);
            let rests =
                [(base, deed.base.saturating_sub(base)), (deed.end(), end.saturating_sub(deed.end()))];
            for (base, size) in rests.into_iter().filter(|&(_, size)| size != 0) {
                let (formers, memory) = (Arc::clone(&retired.formers), retired.memory.clone());
                self.retired.insert(base, Retired { size, formers, memory });
            }
        }
        formers.into_values().collect()
    }

    /// Forgets retired parts of memory that is gone, now and then, so that they cost no more than the live ones.
    fn sweep(&mut self) {
        if self.retired.len() < self.sweep_at.max(Self::LEAST_SWEEP) {
            return;
        }
        self.retired.retain(|_, retired| is_alive(retired.memory.as_ref()));
        self.sweep_at = 2 * self.retired.len();
    }
}

/// Blocks on memory that no device knows live for ever.
fn is_alive(memory: Option<&Arc<Identity>>) -> bool {
    memory.is_none_or(|identity| !identity.is_dead())
}

/// Bases of the entries that share a byte with `deed`, if entries do not overlap each other.
fn overlapping<V>(entries: &BTreeMap<u64, V>, deed: &Deed, size_of: impl Fn(&V) -> u64) -> Vec<u64> {
    let before_end = entries.range(..deed.end()).rev();
    let overlap = before_end.take_while(|&(&base, entry)| base.saturating_add(size_of(entry)) > deed.base);
    overlap.map(|(&base, _)| base).collect()
}

fn pending_words((stream, sequence): (StreamId, u64)) -> Cow<'static, str> {
    Cow::Owned(format!("operation {sequence} on {stream} is pending"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::identity::Site;

    fn at(base: u64, size: u64) -> Deed {
        Deed { base, size, user: Place { site: Site::default(), at: Duration::ZERO } }
    }

    fn kinds(hazards: &[Hazard]) -> Vec<HazardKind> {
        hazards.iter().map(|hazard| hazard.kind).collect()
    }

    #[test]
    fn parts_of_a_retired_block_stay_retired_beside_a_new_block_in_its_middle() {
        let streams = Streams::new();
        let mut ledger = Ledger::default();
        assert!(ledger.declare(&at(100, 100), BlockStreams::Any, None, &streams).is_empty());
        assert!(ledger.retire(&at(100, 100), &streams));
        assert!(ledger.declare(&at(120, 10), BlockStreams::Any, None, &streams).is_empty());
        let stream = StreamId::new(1);
        for (base, size, expected) in [
            (90, 10, &[][..]),
            (99, 2, &[HazardKind::RetiredBlock]),
            (120, 10, &[]),
            (129, 2, &[HazardKind::RetiredBlock]),
            (110, 40, &[HazardKind::RetiredBlock, HazardKind::RetiredBlock]),
            (200, 1, &[]),
        ] {
            assert_eq!(kinds(&ledger.touch(&at(base, size), stream, 1, &streams)), expected, "{base} {size}");
        }
    }

    #[test]
    fn a_block_over_one_that_was_not_retired_is_reported_and_replaces_it() {
        let streams = Streams::new();
        let mut ledger = Ledger::default();
        ledger.declare(&at(100, 100), BlockStreams::Any, None, &streams);
        let hazards = ledger.declare(&at(150, 100), BlockStreams::Any, None, &streams);
        assert_eq!(kinds(&hazards), [HazardKind::OverlappingBlocks]);
        assert_eq!(ledger.len(), 1);
        assert!(!ledger.retire(&at(100, 100), &streams));
        assert!(ledger.retire(&at(150, 100), &streams));
    }

    #[test]
    fn only_exact_blocks_can_be_retired_and_only_once() {
        let streams = Streams::new();
        let mut ledger = Ledger::default();
        ledger.declare(&at(100, 100), BlockStreams::Any, None, &streams);
        for (base, size) in [(100, 99), (101, 99), (0, 100)] {
            assert!(!ledger.retire(&at(base, size), &streams));
        }
        assert!(ledger.retire(&at(100, 100), &streams));
        assert!(!ledger.retire(&at(100, 100), &streams));
    }
}
