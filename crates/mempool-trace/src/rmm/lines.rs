//! Cutting bytes into lines, in constant memory.

use std::io::{self, Read};
use std::ops::Range;

/// Longest line that is taken as a row, in bytes; a row of RMM has under 100.
pub const MAX_LINE_BYTES: usize = 4096;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// What [`Lines::advance`] found. Ranges are places in [`Lines::bytes`], good until the next call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its line end. `cut_off` when the input ended before a line end came.
    Whole {
        /// Where.
        at: Range<usize>,
        /// No line end.
        cut_off: bool,
    },
    /// A line above [`MAX_LINE_BYTES`], of which this is the beginning; the rest was skipped.
    TooLong(Range<usize>),
    /// Nothing is left.
    End,
}

/// Reads lines through a buffer of fixed size.
pub(super) struct Lines<'a> {
    input: Box<dyn Read + Send + 'a>,
    buffer: Box<[u8]>,
    /// Where the unread part starts and ends.
    start: usize,
    end: usize,
    /// Whether the input has said that it is at its end.
    exhausted: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: Box<dyn Read + Send + 'a>) -> Self {
        Self { input, buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), start: 0, end: 0, exhausted: false }
    }

    /// The buffer, into which the ranges of [`Line`] point.
    #[inline]
    pub(super) fn bytes(&self, at: Range<usize>) -> &[u8] {
        &self.buffer[at]
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// What the input answers.
    #[inline]
    pub(super) fn advance(&mut self) -> io::Result<Line> {
        match find_line_end(&self.buffer[self.start..self.end]) {
            Some(length) if length <= MAX_LINE_BYTES => {
                let at = self.start..self.start + length;
                self.start = at.end + 1;
                Ok(Line::Whole { at, cut_off: false })
            }
            _ => self.advance_slowly(),
        }
    }

    /// The case that the buffer holds no line end, or only one far away.
    #[cold]
    fn advance_slowly(&mut self) -> io::Result<Line> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            let line_end = find_line_end(unread);
            if line_end.unwrap_or(unread.len()) > MAX_LINE_BYTES {
                return self.skip_long_line();
            }
            if let Some(length) = line_end {
                let at = self.start..self.start + length;
                self.start = at.end + 1;
                return Ok(Line::Whole { at, cut_off: false });
            }
            if self.exhausted {
                let at = self.start..self.end;
                self.start = self.end;
                return Ok(if at.is_empty() { Line::End } else { Line::Whole { at, cut_off: true } });
            }
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            self.fill()?;
        }
    }

    /// Skips to the next line end and keeps the beginning of the line at the front of the buffer.
    fn skip_long_line(&mut self) -> io::Result<Line> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = MAX_LINE_BYTES;
        loop {
            if let Some(length) = find_line_end(&self.buffer[self.start..self.end]) {
                self.start += length + 1;
                break;
            }
            self.end = MAX_LINE_BYTES;
            self.start = self.end;
            if self.exhausted {
                break;
            }
            self.fill()?;
        }
        Ok(Line::TooLong(0..MAX_LINE_BYTES))
    }

    /// Reads once behind [`Self::end`]. There is always room: callers have moved what is unread to the front, and that
    /// is never more than one line.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.exhausted = count == 0;
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Place of the first line feed, looked for eight bytes at a time.
#[inline]
fn find_line_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // A byte becomes 0 exactly where a line feed is; the lowest such byte is marked right, borrows only go up.
        let difference = u64::from_le_bytes(*word) ^ (ONES * 0x0a);
        let zeros = difference.wrapping_sub(ONES) & !difference & HIGHS;
        if zeros != 0 {
            return Some(index * 8 + (zeros.trailing_zeros() / 8) as usize);
        }
    }
    rest.iter().position(|&byte| byte == b'\n').map(|place| words.len() * 8 + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most `step` bytes a read and is interrupted before each.
    struct Dribble<'a> {
        rest: &'a [u8],
        step: usize,
        interrupt: bool,
    }

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupt = !self.interrupt;
            if self.interrupt {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.step.min(buffer.len()).min(self.rest.len());
            buffer[..count].copy_from_slice(&self.rest[..count]);
            self.rest = &self.rest[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], step: usize) -> Vec<(usize, Vec<u8>, &'static str)> {
        let mut lines = Lines::new(Box::new(Dribble { rest: text, step, interrupt: false }));
        let mut found = Vec::new();
        loop {
            let (at, kind) = match lines.advance().unwrap() {
                Line::Whole { at, cut_off: false } => (at, "whole"),
                Line::Whole { at, cut_off: true } => (at, "cut off"),
                Line::TooLong(at) => (at, "too long"),
                Line::End => return found,
            };
            let bytes = lines.bytes(at).to_vec();
            found.push((bytes.len(), bytes[..bytes.len().min(4)].to_vec(), kind));
        }
    }

    #[test]
    fn lines_are_the_same_however_the_input_is_cut() {
        let longest = MAX_LINE_BYTES;
        let mut text = b"ab\n\ncdef\r\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', longest));
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b'y', longest + 1));
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b'z', 3 * BUFFER_BYTES));
        text.extend(b"\nlast");
        let expected = vec![
            (2, b"ab".to_vec(), "whole"),
            (0, Vec::new(), "whole"),
            (5, b"cdef".to_vec(), "whole"),
            (longest, b"xxxx".to_vec(), "whole"),
            (longest, b"yyyy".to_vec(), "too long"),
            (longest, b"zzzz".to_vec(), "too long"),
            (4, b"last".to_vec(), "cut off"),
        ];
        for step in [1, 7, 4095, 4096, 4097, BUFFER_BYTES, usize::MAX] {
            assert_eq!(all(&text, step), expected, "{step} bytes a read");
        }
    }

    #[test]
    fn a_long_line_at_the_very_end_is_told_once() {
        let text = vec![b'q'; 2 * BUFFER_BYTES + 5];
        assert_eq!(all(&text, usize::MAX), vec![(MAX_LINE_BYTES, b"qqqq".to_vec(), "too long")]);
    }

    #[test]
    fn the_first_line_feed_is_found_among_like_bytes() {
        let mut bytes = vec![0x0b_u8; 40];
        for place in 0..40 {
            bytes[place] = b'\n';
            assert_eq!(find_line_end(&bytes), Some(place));
            assert_eq!(find_line_end(&bytes[..place]), None);
            bytes[place] = 0x8a;
            assert_eq!(find_line_end(&bytes), None);
            bytes[place] = 0x0b;
        }
        assert_eq!(find_line_end(b"\n\x0b\n\x0b\x0b\x0b\x0b\x0b"), Some(0));
    }
}
