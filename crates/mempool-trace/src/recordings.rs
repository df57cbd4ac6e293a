//! Three short recordings of real models, embedded in the crate, for demonstrations and tests.
//!
//! Each holds the loading of the weights, a few requests in their recorded order, and the unloading: every block is
//! freed at the end. `recordings/README.md` beside the crate's sources says where they come from and how they were
//! shortened.

use std::fmt;

use crate::rmm::TraceReader;

/// A recording: its name, what it is of, and its rows.
///
/// ```
/// use mempool_trace::Recording;
/// for recording in Recording::ALL {
///     assert!(recording.reader().all(|row| row.is_ok()), "{}", recording.name());
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    name: &'static str,
    title: &'static str,
    packed: &'static [u8],
}

impl Recording {
    /// torchvision's ResNet-50: image classification, six requests in batches of 8, 1, 8, 8, 4 and 1.
    pub const RESNET50: Self = Self {
        name: "resnet50",
        title: "ResNet-50, fp32, batch 1 to 8",
        packed: include_bytes!("../recordings/resnet50.csv.zst"),
    };

    /// BERT-base: text, eight requests in batches of 1 to 4, with 16 to 376 tokens.
    pub const BERT_BASE: Self = Self {
        name: "bert-base",
        title: "BERT-base, fp32, batch 1 to 4, 16 to 376 tokens",
        packed: include_bytes!("../recordings/bert_base.csv.zst"),
    };

    /// `YOLOv8s`: object detection, four requests in batches of 1 and 2, with images of 320 to 640 pixels.
    pub const YOLOV8S: Self = Self {
        name: "yolov8s",
        title: "YOLOv8s, fp32, batch 1 to 2, 320 to 640 pixels",
        packed: include_bytes!("../recordings/yolov8s.csv.zst"),
    };

    /// All recordings.
    pub const ALL: [Self; 3] = [Self::RESNET50, Self::BERT_BASE, Self::YOLOV8S];

    /// Short name, such as `resnet50`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What it is of, for people.
    pub const fn title(self) -> &'static str {
        self.title
    }

    /// The recording with this name, if there is one.
    ///
    /// ```
    /// use mempool_trace::Recording;
    /// assert_eq!(Recording::by_name("yolov8s"), Some(Recording::YOLOV8S));
    /// ```
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|recording| recording.name == name)
    }

    /// The file as it lies in the crate: an RMM log packed with zstd.
    pub const fn packed(self) -> &'static [u8] {
        self.packed
    }

    /// Reads it from its beginning.
    ///
    /// # Panics
    ///
    /// Never: bytes in memory can always be read.
    pub fn reader(self) -> TraceReader<'static> {
        TraceReader::named(self.name, self.packed).expect("reading from a slice cannot fail")
    }
}

impl fmt::Debug for Recording {
    /// Without the bytes of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recording").field(&self.name).finish()
    }
}
