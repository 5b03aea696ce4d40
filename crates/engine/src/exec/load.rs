//! Load: records of any number in one transaction, each engine in its fastest way.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use treeql::error::{Code, Error};
use treeql::sql::Args;

use crate::driver::{Change, Connection, Outcome};
use crate::exec::intake::{Chunk, Intake};
use crate::exec::recipe::{Recipe, in_place, is_about_a_record};
use crate::exec::shape::rows;
use crate::exec::spool::Spooled;

/// limit: refused records that a report names; the others are counted.
const REPORTED_MAX: usize = 100;
/// limit: chunks that are ready and wait to be written.
const CHUNKS_WAITING_MAX: usize = 2;

/// What became of an import.
#[derive(Debug, Default)]
pub struct Report {
    /// Records that were read.
    pub records: u64,
    /// Records that were written, new or over others.
    pub written: u64,
    /// Records that were left out because their key is taken.
    pub ignored: u64,
    /// Records that were refused.
    pub refused: u64,
    /// The first of these: the line or the number of the record, and why.
    pub errors: Vec<(u64, Error)>,
}

/// Writes the records: all or none, or, if the recipe says so, all but those that are refused.
pub async fn load(recipe: Arc<Recipe>, spooled: Spooled) -> Result<Report, Error> {
    let driver = recipe.snapshot.driver.clone();
    driver.change(Load { recipe, spooled: Arc::new(spooled) }).await
}

struct Load {
    recipe: Arc<Recipe>,
    spooled: Arc<Spooled>,
}

impl Change for Load {
    type Output = Report;

    fn is_batch(&self) -> bool {
        true
    }

    async fn run(&mut self, connection: &impl Connection) -> Result<Outcome<Report>, Error> {
        let mut chunks = Chunks::start(&self.recipe, &self.spooled)?;
        let mut report = Report::default();
        let start = Instant::now();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            report.records += (chunk.places.len() + chunk.refused.len()) as u64;
            self.write(connection, &chunk, &mut report).await?;
            for (place, error) in chunk.refused {
                report.refuse(place, error);
            }
            if start.elapsed() > self.recipe.patience {
                let seconds = self.recipe.patience.as_secs();
                let sentence =
                    format!("it took longer than {seconds} s (limits.importSeconds); nothing was written");
                return Err(Error::new(Code::DatabaseTimeout, sentence));
            }
        }
        report.errors.sort_by_key(|(place, _)| *place);
        Ok(if self.recipe.is_dry_run { Outcome::Rollback(report) } else { Outcome::Commit(report) })
    }
}

impl Load {
    /// As many rows at once as there are; of those that are refused the halves, down to the row that is.
    async fn write(
        &self,
        connection: &impl Connection,
        chunk: &Chunk,
        report: &mut Report,
    ) -> Result<(), Error> {
        let statements = rows(&chunk.plan);
        let args = Args::of(&self.recipe.values, self.recipe.snapshot.setting.mode);
        let args = Args { cells: &chunk.cells, ..args };
        // limit: halves that wait: no more than halvings of a chunk.
        let mut waiting: Vec<_> = std::iter::once(0..chunk.places.len()).collect();
        while let Some(range) = waiting.pop().filter(|range| !range.is_empty()) {
            let (first, count) = (range.start, statements.batch(range.len()));
            if count < range.len() {
                waiting.push(first + count..range.end);
            }
            match connection.load(statements, statements.part(args, first, count), count).await {
                Ok(written) => report.add(written, count),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) if count == 1 => self.refuse(chunk.places[first], error, report)?,
                Err(_) => {
                    let middle = first + count / 2;
                    waiting.extend([middle..first + count, first..middle]);
                }
            }
        }
        Ok(())
    }

    fn refuse(&self, place: u64, error: Error, report: &mut Report) -> Result<(), Error> {
        let is_fatal = !self.recipe.is_skipping || !is_about_a_record(&error);
        let error = in_place(self.recipe.syntax, place, error);
        if is_fatal {
            return Err(error);
        }
        report.refuse(place, error);
        Ok(())
    }
}

/// Whether trying the rows one by one would be in vain.
fn is_final(error: &Error) -> bool {
    matches!(error.code, Code::DatabaseUnavailable | Code::DatabaseTimeout | Code::OperationForbidden)
}

impl Report {
    fn add(&mut self, written: u64, count: usize) {
        self.written += written;
        self.ignored += (count as u64).saturating_sub(written);
    }

    fn refuse(&mut self, place: u64, error: Error) {
        self.refused += 1;
        if self.errors.len() < REPORTED_MAX {
            self.errors.push((place, error));
        }
    }
}

/// Chunks as they become ready.
enum Chunks {
    /// Made when they are asked for, on a thread that has nothing else to do.
    Here(Box<Intake>),
    /// Made on a thread of their own, while the database works on those before.
    Beside(mpsc::Receiver<Result<Chunk, Error>>),
}

impl Chunks {
    fn start(recipe: &Arc<Recipe>, spooled: &Arc<Spooled>) -> Result<Chunks, Error> {
        let mut intake = Intake::new(Arc::clone(recipe), Arc::clone(spooled));
        if recipe.snapshot.setting.dialect.writes_on_a_thread() {
            return Ok(Chunks::Here(Box::new(intake)));
        }
        let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
        let body = move || {
            while let Some(chunk) = intake.next() {
                // Nobody takes it any more: the request has failed, or its client has left.
                if sender.blocking_send(chunk).is_err() {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().name("rowcast-intake".to_owned()).spawn(body);
        started.map_err(|error| {
            tracing::error!(%error, "no thread to read records");
            Error::new(Code::DatabaseUnavailable, "there is no thread to read the records; try again")
        })?;
        Ok(Chunks::Beside(receiver))
    }

    async fn next(&mut self) -> Option<Result<Chunk, Error>> {
        match self {
            Chunks::Here(intake) => intake.next(),
            Chunks::Beside(receiver) => receiver.recv().await,
        }
    }
}
