//! hello: the floor of each, a short text from memory.

use anyhow::Result;

use crate::bout::{everyone, loaded, rounds};
use crate::contestant::Racer;
use crate::contract::is_answer;
use crate::field::enter;
use crate::lab::Lab;
use crate::load::{Limit, Load, Tool};
use crate::run::{Better, Measure, Scenario};
use crate::sampler::Sample;
use crate::wire::Call;

const ABOUT: &str = "A short text, answered from memory: what HTTP alone costs in each language. 32 connections of oha that are \
    kept, eight of ab that are not, and an open loop at fixed rates, in which a late answer counts from when it should have \
    been asked for. Rowcast has no page without a database: it answers with a record of one row from an embedded SQLite.";

/// # Errors
///
/// If nothing can be raced at all.
pub fn run(lab: &Lab) -> Result<Scenario> {
    let (field, absent) = enter(lab, "hello", None)?;
    let mut measures = vec![
        Measure::new("hello, oha, 32 connections", "requests/s", Better::More),
        Measure::new("hello, ab -c 8", "requests/s", Better::More),
    ];
    for rate in &lab.options.rates {
        measures.push(Measure::new(&format!("hello, 99 % within, at {rate} requests/s"), "ms", Better::Less));
    }
    let run = |measure: usize, racer: usize| {
        let racer = &field.racers[racer];
        let load = load(lab, racer, measure);
        let load = load.warm_up(lab)?;
        let (found, _, mut figure) = loaded(lab, racer, None, &load, &sample(racer))?;
        if load.rate.is_some() {
            let carried = figure.value;
            figure = figure.with("requests/s", carried);
            figure.value = found.p99_ms;
        }
        Ok(figure)
    };
    let turns = everyone(&field.names(), &measures);
    let raced = rounds(lab, &field.names(), lab.options.round_range(), measures, turns, run);
    Ok(field.close("hello", "Hello: the floor of each", ABOUT, absent, raced))
}

fn load(lab: &Lab, racer: &Racer, measure: usize) -> Load {
    let options = &lab.options;
    let load = Load::get(racer.url(&racer.service.hello.path), 32, Limit::Seconds(options.seconds));
    match measure {
        0 => load,
        1 => Load {
            tool: Tool::Ab,
            connections: 8,
            limit: Limit::Either(options.seconds, options.requests),
            ..load
        },
        _ => Load { rate: Some(options.rates[measure - 2]), ..load },
    }
}

fn sample(racer: &Racer) -> Sample<'_> {
    Sample {
        call: Box::new(|_| Call::get(racer.url(&racer.service.hello.path))),
        check: Box::new(|_, answer| is_answer(answer, &racer.service.hello.body)),
    }
}
