//! A line of JSON for each event.

use std::fmt;

use akash_types::with_causes;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// `{"ts":…,"level":…,"message":…,"module":…,"span":…}` and every field beside them: those of the
/// event, then those of the spans it happened in, the inner ones first.
pub(super) struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        let mut line = Map::new();
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        line.insert("ts".to_owned(), time.into());
        let level = metadata.level().as_str().to_ascii_lowercase();
        line.insert("level".to_owned(), level.into());
        event.record(&mut Fields(&mut line));
        line.entry("module").or_insert_with(|| metadata.target().into());
        let mut names = Vec::new();
        let spans = context.lookup_current();
        for span in spans.iter().flat_map(|span| span.scope()) {
            names.push(span.name());
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>();
            let parsed = fields.and_then(|text| serde_json::from_str::<Map<_, _>>(text).ok());
            for (name, value) in parsed.into_iter().flatten() {
                line.entry(name).or_insert(value);
            }
        }
        if !names.is_empty() {
            names.reverse();
            line.entry("span").or_insert_with(|| names.join(":").into());
        }
        writeln!(writer, "{}", Value::Object(line))
    }
}

struct Fields<'a>(&'a mut Map<String, Value>);

impl Fields<'_> {
    fn put(&mut self, field: &Field, value: Value) {
        // What comes first is ours: an event cannot pretend to another time or level.
        self.0.entry(field.name()).or_insert(value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.put(field, with_causes(value).into());
    }
}
