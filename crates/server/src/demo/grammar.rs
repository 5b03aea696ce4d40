//! Templates: sentences with `{this|that}` to choose from and `<did> <our>` to say what a post is about.

use fastrand::Rng;

use crate::demo::words::{Task, Topic};

/// What one post tells: a task of a topic, with the choices of its object made once and for all.
pub struct Story {
    pub topic: &'static Topic,
    verb: &'static [&'static str; 3],
    object: String,
}

impl Story {
    /// Draws one of the tasks of `topic`.
    pub fn draw(rng: &mut Rng, topic: &'static Topic) -> Story {
        let Task(verb, object) = pick(rng, topic.tasks);
        Story { topic, verb, object: choose(rng, object) }
    }

    /// The sentence that `template` becomes for this story.
    pub fn tell(&self, rng: &mut Rng, template: &str) -> String {
        let [base, past, gerund] = self.verb;
        let text = choose(rng, template)
            .replace("<do>", base)
            .replace("<did>", past)
            .replace("<doing>", gerund)
            .replace("<name>", self.topic.name)
            .replace("<our>", &self.object.replace('@', "our"))
            .replace("<your>", &self.object.replace('@', "your"))
            .replace("<the>", &self.object.replace('@', "the"));
        capitalize(&text)
    }
}

/// One element of a list that is not empty.
pub fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(..list.len())]
}

/// The text of `template` with one alternative of each `{this|that}`.
pub fn choose(rng: &mut Rng, template: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (choices, behind) = after.split_once('}').unwrap_or((after, ""));
        let choice = rng.usize(..choices.split('|').count());
        text.push_str(before);
        text.push_str(choices.split('|').nth(choice).unwrap_or_default());
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// The part of an address that names a post: its title in lower case, with hyphens between the words.
pub fn slug(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| c != '\'' && !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.replace('\'', "").to_ascii_lowercase())
        .collect();
    words.join("-")
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alternative_of_each_group_is_chosen() {
        let mut rng = Rng::with_seed(1);
        let text = choose(&mut rng, "{a|b} and {c|d}.");
        assert!(["a and c.", "a and d.", "b and c.", "b and d."].contains(&text.as_str()), "{text}");
        assert_eq!(choose(&mut rng, "nothing to choose"), "nothing to choose");
    }

    #[test]
    fn a_slug_has_words_and_hyphens() {
        assert_eq!(slug("Don't move: five (5) lessons?"), "dont-move-five-5-lessons");
    }
}
