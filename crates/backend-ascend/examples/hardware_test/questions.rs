//! Questions that CANN's documents leave open, asked of the card. A surprise is an answer, no failure: the backend relies on
//! none of these. No work in a stream touches memory that is given back meanwhile, so no answer harms the card.

use std::mem::ManuallyDrop;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use backend_ascend::AscendBackend;
use backend_ascend::acl::{
    AclError, Context, DeviceMemory, ErrorKind, Event, EventFlags, EventStatus, MallocPolicy, MemoryKind,
    PageKind, PhysicalMemory, Reservation, Stream, granularity,
};
use mempool_core::Bytes;
use testkit::conformance::HeldWork as _;

use crate::alignment::alignment;
use crate::output::say;
use crate::report::Answer;
use crate::rig::{Held, hold};
use crate::samples::Timing;
use crate::watch::watched;

/// So long a call is given to return although work is held, before it is said to wait for that work.
const PATIENCE: Duration = Duration::from_secs(1);

const MIB_2: usize = 2 << 20;

/// A question, and how it is asked. The answer is a few words, and the detail.
struct Question {
    id: &'static str,
    text: &'static str,
    ask: fn(&Context) -> Result<(String, String), AclError>,
}

const QUESTIONS: &[Question] = &[
    Question {
        id: "handle_mapped_twice",
        text: "may one piece of physical memory be mapped at two places?",
        ask: handle_mapped_twice,
    },
    Question {
        id: "event_recorded_anew",
        text: "what does a stream wait for when the event is recorded anew elsewhere?",
        ask: event_recorded_anew,
    },
    Question { id: "unmap_waits", text: "does unmapping wait for work of the card?", ask: unmap_waits },
    Question { id: "free_waits", text: "does aclrtFree wait for work of the card?", ask: free_waits },
    Question {
        id: "synchronize_device_scope",
        text: "does aclrtSynchronizeDevice wait for streams of other contexts?",
        ask: synchronize_device_scope,
    },
    Question {
        id: "arena_alignment",
        text: "what are addresses of aclrtMallocAlign32 multiples of, for whole pages of 2 MiB?",
        ask: arena_alignment,
    },
    Question {
        id: "reservation_alignment",
        text: "what are reserved addresses multiples of?",
        ask: reservation_alignment,
    },
    Question {
        id: "plain_malloc_cost",
        text: "how much memory does aclrtMalloc take for 2 MiB, and aclrtMallocAlign32?",
        ask: plain_malloc_cost,
    },
    Question { id: "giant_pages", text: "are pages of 1 GiB set up?", ask: giant_pages },
];

/// Asks and prints.
pub(crate) fn run(backend: &AscendBackend, timings: &[Timing]) -> Vec<Answer> {
    say(format_args!("\nquestions that the documents leave open"));
    let of_card = QUESTIONS.iter().map(|question| {
        let (found, detail) = match watched(question.id, || (question.ask)(backend.context())) {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => ("not found out".to_owned(), error.to_string()),
            Err(words) => ("not found out".to_owned(), words),
        };
        Answer { id: question.id, question: question.text, found, detail }
    });
    let answers: Vec<_> = of_card.chain([map_cost(timings)]).collect();
    for Answer { question, found, detail, .. } in &answers {
        say(format_args!("  {question}\n    {found}{}{detail}", if detail.is_empty() { "" } else { ": " }));
    }
    let errors = backend.context().device().runtime().take_release_errors();
    if errors.failed > 0 || errors.leaked > 0 {
        say(format_args!(
            "  left unreleased by the questions: {} (last: {:?})",
            errors.failed + errors.leaked,
            errors.last
        ));
    }
    answers
}

fn plain(answer: &str) -> (String, String) {
    (answer.to_owned(), String::new())
}

fn size(bytes: usize) -> String {
    Bytes::new(bytes as u64).to_string()
}

fn handle_mapped_twice(context: &Context) -> Result<(String, String), AclError> {
    let granule = granularity(context, PageKind::HUGE)?;
    let reservation = Reservation::new(context, 2 * granule)?;
    let memory = PhysicalMemory::allocate(context, granule, PageKind::HUGE)?;
    let first = reservation.map(0, &memory)?;
    let second = match reservation.map(granule, &memory) {
        Ok(second) => second,
        Err(error) => return Ok(("no, it is refused".to_owned(), error.to_string())),
    };
    first.as_slice().fill(1)?;
    second.as_slice().slice(0, 1)?.fill(2)?;
    let mut bytes = [0; 2];
    first.as_slice().read(&mut bytes)?;
    Ok(plain(if bytes == [2, 1] { "yes, both show the same bytes" } else { "yes, but with different bytes" }))
}

fn event_recorded_anew(context: &Context) -> Result<(String, String), AclError> {
    let [first, second, third] = [Stream::new(context)?, Stream::new(context)?, Stream::new(context)?];
    let flags = EventFlags::ORDER.and(EventFlags::PROGRESS);
    let (event, after) = (Event::new(context, flags)?, Event::new(context, flags)?);
    let work = hold(&first);
    event.record(&first)?;
    second.wait(&event)?;
    let again = event.record(&third);
    if let Err(error) = again {
        release(work);
        return Ok(("recording anew is refused".to_owned(), error.to_string()));
    }
    after.record(&second)?;
    let done = third.synchronize_for(10 * PATIENCE);
    let went_on = after.query()? == EventStatus::Complete;
    release(work);
    done?;
    Ok(match second.synchronize_for(10 * PATIENCE) {
        Ok(()) if went_on => plain("the new record; the first is forgotten"),
        Ok(()) => plain("the first record, as it should"),
        Err(error) => {
            // Destroying it would wait for ever too.
            let _left = ManuallyDrop::new(second);
            ("neither; it waits on".to_owned(), error.to_string())
        }
    })
}

fn unmap_waits(context: &Context) -> Result<(String, String), AclError> {
    let granule = granularity(context, PageKind::HUGE)?;
    let reservation = Reservation::new(context, granule)?;
    let memory = PhysicalMemory::allocate(context, granule, PageKind::HUGE)?;
    let mapping = reservation.map(0, &memory)?;
    let stream = Stream::new(context)?;
    waits(hold(&stream), move || mapping.unmap().map_err(|refused| refused.error))
}

fn free_waits(context: &Context) -> Result<(String, String), AclError> {
    let memory = DeviceMemory::allocate(context, MIB_2, MallocPolicy::HUGE_FIRST)?;
    let stream = Stream::new(context)?;
    waits(hold(&stream), move || memory.free().map_err(|refused| refused.error))
}

fn synchronize_device_scope(context: &Context) -> Result<(String, String), AclError> {
    let other = context.device().create_context()?;
    let stream = Stream::new(&other)?;
    waits(hold(&stream), || context.synchronize_device())
}

/// Whether `call` returns while `work` is held.
fn waits(
    work: Held,
    call: impl FnOnce() -> Result<(), AclError> + Send,
) -> Result<(String, String), AclError> {
    thread::scope(|scope| {
        let (sender, returned) = mpsc::channel();
        scope.spawn(move || {
            // The receiver is gone only if this thread is.
            let _ = sender.send(call());
        });
        let in_time = returned.recv_timeout(PATIENCE);
        release(work);
        match in_time {
            Ok(answer) => answer.map(|()| plain("no")),
            Err(_) => match returned.recv() {
                Ok(answer) => answer.map(|()| plain("yes")),
                Err(_) => Ok(plain("not found out")),
            },
        }
    })
}

fn release(work: Held) {
    Box::new(work).let_go();
}

fn arena_alignment(context: &Context) -> Result<(String, String), AclError> {
    let sizes = (0..32).map(|number| MIB_2 * (1 + number % 5));
    let taken = sizes.map(|size| DeviceMemory::allocate_unpadded(context, size, MallocPolicy::HUGE_FIRST));
    let taken = taken.collect::<Result<Vec<_>, _>>()?;
    let answer = alignment(taken.iter().map(DeviceMemory::address));
    Ok((answer, format!("of {} allocations", taken.len())))
}

fn reservation_alignment(context: &Context) -> Result<(String, String), AclError> {
    let granule = granularity(context, PageKind::HUGE)?;
    let sizes = (0..32).map(|number| granule * (1 + number % 5 * 300));
    let taken = sizes.map(|size| Reservation::new(context, size)).collect::<Result<Vec<_>, _>>()?;
    let answer = alignment(taken.iter().map(Reservation::address));
    Ok((answer, format!("of {} reservations", taken.len())))
}

fn plain_malloc_cost(context: &Context) -> Result<(String, String), AclError> {
    const COUNT: usize = 8;
    type Allocate = fn(&Context, usize, MallocPolicy) -> Result<DeviceMemory, AclError>;
    let cost = |allocate: Allocate| -> Result<usize, AclError> {
        let before = context.memory_info(MemoryKind::HBM)?.free;
        let taken = (0..COUNT).map(|_| allocate(context, MIB_2, MallocPolicy::HUGE_ONLY));
        let taken = taken.collect::<Result<Vec<_>, _>>()?;
        let after = context.memory_info(MemoryKind::HBM)?.free;
        drop(taken);
        Ok(before.saturating_sub(after) / COUNT)
    };
    let (padded, unpadded) = (cost(DeviceMemory::allocate)?, cost(DeviceMemory::allocate_unpadded)?);
    Ok((format!("{padded} and {unpadded} bytes"), format!("mean of {COUNT}, in huge pages only")))
}

fn giant_pages(context: &Context) -> Result<(String, String), AclError> {
    let granule = match granularity(context, PageKind::HUGE_1G) {
        Ok(granule) => granule,
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidArgument) => {
            return Ok(("no".to_owned(), error.to_string()));
        }
        Err(error) => return Err(error),
    };
    Ok(match PhysicalMemory::allocate(context, granule, PageKind::HUGE_1G) {
        Ok(_) => ("yes".to_owned(), format!("granule {}", size(granule))),
        Err(error) => ("known, but none could be had".to_owned(), error.to_string()),
    })
}

/// How the cost of mapping grows with the size, from the timings.
fn map_cost(timings: &[Timing]) -> Answer {
    let maps: Vec<_> = timings.iter().filter(|timing| timing.name.starts_with("map ")).collect();
    let figures = maps.iter().map(|timing| format!("{} {} ns", &timing.name[4..], timing.median_ns));
    let detail = figures.collect::<Vec<_>>().join(", ");
    let found = match (maps.first(), maps.last()) {
        (Some(small), Some(large)) if maps.len() > 1 && small.median_ns > 0 => {
            if large.median_ns < 4 * small.median_ns { "hardly" } else { "yes" }
        }
        _ => "not found out",
    };
    Answer {
        id: "map_cost",
        question: "does one mapping cost more the larger it is?",
        found: found.to_owned(),
        detail,
    }
}
