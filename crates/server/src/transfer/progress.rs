//! Progress: a line that says how far a transfer has come, on a terminal only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::exec::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// How often the line is written.
const INTERVAL: Duration = Duration::from_millis(200);

/// The line, as long as it lives. Off a terminal it is not written.
pub struct Line {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Watches `progress`; of `total` bytes if that is known.
    pub fn watch(progress: &Arc<Progress>, total: Option<u64>) -> anyhow::Result<Line> {
        let bar = match total {
            Some(total) => ProgressBar::new(total).with_style(ProgressStyle::with_template(
                "{bar:30} {percent:>3}%  {msg}  {bytes_per_sec}  {eta} left",
            )?),
            None => ProgressBar::no_length().with_style(ProgressStyle::with_template(
                "{spinner} {bytes}  {msg}  {bytes_per_sec}  {elapsed}",
            )?),
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let (ended, progress) = (Arc::clone(&is_over), Arc::clone(progress));
        let thread = std::thread::Builder::new().name("rowcast-progress".to_owned()).spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let rows = progress.records.load(Ordering::Relaxed);
                let seconds = bar.elapsed().as_secs_f64().max(0.001);
                #[expect(clippy::cast_precision_loss, reason = "it is a rate for people")]
                let rate = rows as f64 / seconds;
                bar.set_message(format!("{rows} rows  {rate:.0}/s"));
                bar.set_position(progress.bytes.load(Ordering::Relaxed));
                std::thread::park_timeout(INTERVAL);
            }
            bar.finish_and_clear();
        })?;
        Ok(Line { is_over, thread: Some(thread) })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A line that could not be written is no loss.
            thread.join().ok();
        }
    }
}
