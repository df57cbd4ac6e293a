//! The scene: three recordings, interleaved on one card.

use mempool_core::Bytes;
use mempool_trace::{Recording, SummaryBuilder, TraceError, TraceRow};

/// Events of one model before it is the next one's turn.
pub(super) const EVENTS_PER_TURN: usize = 100;

/// The events of all models in one order.
#[derive(Debug)]
pub(super) struct Scene {
    /// Pointers are names here, different for each model; the stream is the number of the model, from 1.
    pub(super) rows: Vec<TraceRow>,
    /// Events done when the most bytes are live.
    pub(super) peak_event: usize,
    /// The most that is live at once, as requested.
    pub(super) peak_live: Bytes,
}

impl Scene {
    /// Lets the models take turns, a fixed number of events each, until all are done. The same in every run.
    pub(super) fn of(recordings: &[Recording]) -> Result<Self, TraceError> {
        let mut waiting = Vec::new();
        for (model, recording) in (1..).zip(recordings) {
            let rows = recording.reader().map(|row| row.map(|row| of_model(model, row)));
            waiting.push(rows.collect::<Result<Vec<_>, _>>()?.into_iter());
        }
        let mut rows = Vec::with_capacity(waiting.iter().map(ExactSizeIterator::len).sum());
        while waiting.iter().any(|rows| rows.len() > 0) {
            for model in &mut waiting {
                rows.extend(model.take(EVENTS_PER_TURN));
            }
        }
        let mut summary = SummaryBuilder::new();
        for (number, row) in (1..).zip(&mut rows) {
            *row = row.at(number, number);
            // The recordings make sense, and a test of theirs says so.
            let _ = summary.add(row);
        }
        let summary = summary.finish();
        let peak_event = usize::try_from(summary.peak_row).unwrap_or(usize::MAX);
        let peak_live = u64::try_from(summary.peak_live_bytes).map_or(Bytes::MAX, Bytes::new);
        Ok(Self { rows, peak_event, peak_live })
    }
}

/// The row as one of this model, on its own stream. Addresses have 48 bits, so that the upper ones can tell models apart.
fn of_model(model: u64, mut row: TraceRow) -> TraceRow {
    row.pointer |= model << 56;
    row.with_stream(model)
}

#[cfg(test)]
mod tests {
    use mempool_trace::TraceSummary;

    use super::*;

    #[test]
    fn models_take_turns_and_every_event_comes_once_and_in_its_order() {
        let scene = Scene::of(&Recording::ALL).unwrap();
        let summary = TraceSummary::of(scene.rows.iter().copied().map(Ok)).unwrap();
        assert_eq!((summary.events, summary.streams), (5344 + 5434 + 5886, 3));
        assert_eq!((summary.counts.findings(), summary.live_at_end_blocks), (0, 0));
        assert_eq!(summary.peak_row, scene.peak_event as u64);
        for (turn, rows) in scene.rows.chunks(EVENTS_PER_TURN).take(9).enumerate() {
            assert!(rows.iter().all(|row| row.stream == turn as u64 % 3 + 1));
        }
    }
}
