//! What outlives a bidder: blocks with what they led to, and how intents ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use akash_types::{Address, Intent, IntentId, LeaseId, Outcome};

use super::want::Want;

/// Something that must never happen did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

/// A want, when it came up, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was wanted.
    pub want: Want,
    /// The block that led to it.
    pub height: u64,
    /// How it ended; `None` as long as it has not.
    pub outcome: Option<String>,
}

/// What was seen and wanted so far. In a file each entry is a line, so that a line that is not whole
/// counts as never written.
#[derive(Debug, Default)]
pub struct Journal {
    cursor: u64,
    entries: Vec<Entry>,
    known: BTreeSet<Want>,
    leases: BTreeMap<u64, Vec<LeaseId>>,
    file: Option<File>,
}

impl Journal {
    /// One in memory that has seen blocks up to a height.
    pub fn after(cursor: u64) -> Self {
        Self { cursor, ..Self::default() }
    }

    /// One in a file, as far as it was written.
    pub fn open_file(path: &Path, cursor: u64) -> io::Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let (mut journal, whole) =
            Self::of_text(&text, cursor).map_err(|Broken(why)| io::Error::other(why))?;
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        file.set_len(u64::try_from(whole).unwrap_or_default())?;
        journal.file = Some(file);
        Ok(journal)
    }

    /// What a file says, and how many bytes of it were written whole.
    pub fn of_text(text: &str, cursor: u64) -> Result<(Self, usize), Broken> {
        let mut journal = Self::after(cursor);
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for line in text.get(..whole).unwrap_or_default().lines() {
            journal.read(line)?;
        }
        Ok((journal, whole))
    }

    /// Height of the last block.
    pub const fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Everything that was wanted, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many intents have not ended.
    pub fn open_count(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_open()).count()
    }

    /// What has not ended, to be wanted again.
    pub(super) fn open(&self, provider: Address) -> Vec<Intent> {
        let open = (0..).zip(&self.entries).filter(|(_, entry)| entry.is_open());
        open.filter_map(|(id, entry)| entry.want.intent(IntentId(id), entry.height, provider))
            .collect()
    }

    /// Leases that began at a height.
    pub(super) fn leases_of(&self, height: u64) -> impl Iterator<Item = LeaseId> {
        self.leases.get(&height).into_iter().flatten().copied()
    }

    /// Takes in the next block and what it leads to: the intents.
    pub(super) fn block(
        &mut self,
        height: u64,
        wants: Vec<Want>,
        provider: Address,
    ) -> Result<Vec<Intent>, Broken> {
        let words: Vec<String> = wants.iter().map(ToString::to_string).collect();
        let first = self.entries.len();
        self.add(height, wants)?;
        self.write(&format!("block {height} {}", words.join(" ")))?;
        let new = (0..).zip(&self.entries).skip(first);
        Ok(new
            .filter_map(|(id, entry)| entry.want.intent(IntentId(id), height, provider))
            .collect())
    }

    /// Takes in how an intent ended.
    pub(super) fn end(&mut self, id: IntentId, outcome: &Outcome) -> Result<(), Broken> {
        let said = match outcome {
            Outcome::Executed { height } => format!("executed {height}"),
            Outcome::Refused { codespace, code, log } => {
                format!("refused {codespace} {code} {}", log.replace('\n', " "))
            }
            other => other.as_str().to_owned(),
        };
        self.finish(id.0, &said)?;
        self.write(&format!("ended {id} {said}"))
    }

    fn read(&mut self, line: &str) -> Result<(), Broken> {
        let not_understood = || Broken(format!("cannot read {line:?} in the journal"));
        let (kind, rest) = line.split_once(' ').ok_or_else(not_understood)?;
        let (number, rest) = rest.split_once(' ').ok_or_else(not_understood)?;
        let number = number.parse().map_err(|_| not_understood())?;
        match kind {
            "block" => {
                let wants = rest.split_whitespace().map(str::parse).collect::<Result<_, _>>();
                self.add(number, wants.map_err(Broken)?)
            }
            "ended" => self.finish(number, rest),
            _ => Err(not_understood()),
        }
    }

    fn add(&mut self, height: u64, wants: Vec<Want>) -> Result<(), Broken> {
        if height != self.cursor.saturating_add(1) {
            return Err(Broken(format!("block {height} came after {}", self.cursor)));
        }
        for want in wants {
            if !self.known.insert(want) {
                return Err(Broken(format!("{want} came up twice, at height {height} again")));
            }
            if let Want::Lease(lease) = want {
                self.leases.entry(height).or_default().push(lease);
            }
            self.entries.push(Entry { want, height, outcome: None });
        }
        self.cursor = height;
        Ok(())
    }

    fn finish(&mut self, id: u64, said: &str) -> Result<(), Broken> {
        let place = usize::try_from(id).unwrap_or(usize::MAX);
        let entry = self.entries.get_mut(place).filter(|entry| entry.is_open());
        let entry =
            entry.ok_or_else(|| Broken(format!("intent {id} ended again or never was: {said}")))?;
        entry.outcome = Some(said.to_owned());
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), Broken> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| Broken(format!("writing the journal: {error}")))
    }
}

impl Entry {
    /// Whether it is an intent that has not ended.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none() && !matches!(self.want, Want::Lease(_))
    }

    /// Whether it ended with the wanted state.
    pub fn holds(&self) -> bool {
        self.outcome.as_deref().is_some_and(|said| {
            said.starts_with("executed ") || said == Outcome::AlreadyHolds.as_str()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/5/1/1";

    #[test]
    fn a_line_that_is_not_whole_was_never_written() {
        let text = format!("block 8 bid:{ORDER}\nended 0 executed 9\nblock 9 \nblock 1");
        let (journal, whole) = Journal::of_text(&text, 7).unwrap();
        assert_eq!((journal.cursor(), journal.open_count()), (9, 0));
        assert_eq!(text.len() - whole, "block 1".len());
        assert!(journal.entries()[0].holds());
    }

    #[test]
    fn gaps_and_repetitions_are_noticed() {
        for text in [
            "block 9 \n".to_owned(),
            format!("block 8 bid:{ORDER}\nblock 9 bid:{ORDER}\n"),
            "block 8 \nblock 8 \n".to_owned(),
            "ended 0 executed 9\n".to_owned(),
            format!("block 8 bid:{ORDER}\nended 0 executed 9\nended 0 executed 9\n"),
        ] {
            assert!(Journal::of_text(&text, 7).is_err(), "{text}");
        }
    }
}
