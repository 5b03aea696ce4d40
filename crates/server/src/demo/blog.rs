//! The rows of the sample blog, made from one seed.

use std::collections::HashSet;

use engine::driver::sqlite::loader::{LoadError, Loader};
use fastrand::Rng;
use treeql::value::Value;

use crate::demo::calendar::{DAY, date, timestamp};
use crate::demo::grammar::{Story, choose, pick, slug};
use crate::demo::people::{BIOGRAPHIES, FIRST_NAMES, HOBBIES, LAST_NAMES};
use crate::demo::words::{
    ADDITIONS, CATEGORIES, CLOSINGS, GENERAL_TAGS, IMPORTANT_TAGS, OPENINGS, REACTIONS, REMARKS, TITLES,
    Topic,
};
use crate::demo::{leisure, trade};

const SEED: u64 = 20_250_314;
const USERS: usize = 120;
const POSTS: usize = 10_000;
const COMMENTS: usize = 50_000;
const VISITORS: usize = 5_000;

/// Users joined in the two years before the first post, so that nobody writes before joining.
const USERS_FROM: u64 = 1_577_836_800; // 2020-01-01
const POSTS_FROM: u64 = 1_640_995_200; // 2022-01-01
const POSTS_EVERY: u64 = 11_000; // seconds: the last post is of June 2025
const VISITORS_FROM: u64 = 1_748_736_000; // 2025-06-01

/// Titles to try before a number makes the slug unique.
const TITLE_ATTEMPTS: usize = 20;

/// Calls with the table, its rows so far and its rows in total.
type Progress<'a> = &'a mut dyn FnMut(&str, u64, u64);

/// Fills all tables of the schema.
pub fn insert(loader: &mut Loader, progress: Progress<'_>) -> Result<(), LoadError> {
    let mut rng = Rng::with_seed(SEED);
    let topics: Vec<&Topic> = trade::TOPICS.iter().chain(leisure::TOPICS).collect();
    let tags = tags(&topics);
    insert_users(loader, &mut rng, progress)?;
    insert_categories(loader, progress)?;
    insert_tags(loader, &tags, progress)?;
    let posts = posts(&mut rng, &topics);
    insert_posts(loader, &mut rng, &posts, progress)?;
    insert_comments(loader, &mut rng, &posts, progress)?;
    insert_post_tags(loader, &mut rng, &posts, &tags, progress)?;
    insert_visitors(loader, &mut rng, progress)
}

/// What other tables must know of a post.
struct Post {
    id: i64,
    story: Story,
    title: String,
    slug: String,
    state: State,
}

enum State {
    Draft,
    Published { at: u64, views: u64 },
}

fn tags(topics: &[&'static Topic]) -> Vec<&'static str> {
    let mut names: Vec<&str> =
        topics.iter().flat_map(|topic| topic.tags).chain(GENERAL_TAGS).copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn posts(rng: &mut Rng, topics: &[&'static Topic]) -> Vec<Post> {
    let mut slugs = HashSet::new();
    let mut posts = Vec::with_capacity(POSTS);
    for index in 0..POSTS {
        let (mut story, mut title) = headline(rng, topics);
        for _ in 0..TITLE_ATTEMPTS {
            if !slugs.contains(&slug(&title)) {
                break;
            }
            (story, title) = headline(rng, topics);
        }
        let mut slug = slug(&title);
        if slugs.contains(&slug) {
            slug = format!("{slug}-{}", index + 1);
        }
        slugs.insert(slug.clone());
        let at = POSTS_FROM + index as u64 * POSTS_EVERY + rng.u64(..POSTS_EVERY);
        // A few posts are read by everybody and most by a handful.
        let views = 20_000 / rng.u64(1..=1000) + rng.u64(..100);
        let state = if rng.u8(..100) < 4 { State::Draft } else { State::Published { at, views } };
        posts.push(Post { id: index as i64 + 1, story, title, slug, state });
    }
    posts
}

fn headline(rng: &mut Rng, topics: &[&'static Topic]) -> (Story, String) {
    let topic = pick(rng, topics);
    let story = Story::draw(rng, topic);
    let template = pick(rng, TITLES);
    let title = story.tell(rng, template);
    (story, title)
}

fn insert_users(loader: &mut Loader, rng: &mut Rng, progress: Progress<'_>) -> Result<(), LoadError> {
    let rows = (0..USERS).map(|index| {
        // Each round through the first names shifts the other lists by one, so no combination comes back.
        let round = index / FIRST_NAMES.len();
        let first = FIRST_NAMES[index % FIRST_NAMES.len()];
        let last = LAST_NAMES[(index * 13 + round) % LAST_NAMES.len()];
        let hobby = HOBBIES[(index + round) % HOBBIES.len()];
        let template = pick(rng, BIOGRAPHIES);
        let biography = if rng.u8(..100) < 15 { Value::Null } else { text(choose(rng, template)) };
        let joined = date(USERS_FROM + rng.u64(..2 * 365) * DAY);
        vec![
            int(index + 1),
            text(format!("{}_{hobby}", first.to_ascii_lowercase())),
            text(format!("{first} {last}")),
            biography,
            text(joined),
        ]
    });
    load(loader, "users", &["id", "username", "full_name", "bio", "joined_at"], rows, progress)
}

fn insert_categories(loader: &mut Loader, progress: Progress<'_>) -> Result<(), LoadError> {
    let rows = CATEGORIES
        .iter()
        .enumerate()
        .map(|(index, (name, description))| vec![int(index + 1), text(*name), text(*description)]);
    load(loader, "categories", &["id", "name", "description"], rows, progress)
}

fn insert_tags(loader: &mut Loader, tags: &[&str], progress: Progress<'_>) -> Result<(), LoadError> {
    let rows = tags
        .iter()
        .enumerate()
        .map(|(index, name)| vec![int(index + 1), text(*name), truth(IMPORTANT_TAGS.contains(name))]);
    load(loader, "tags", &["id", "name", "is_important"], rows, progress)
}

fn insert_posts(
    loader: &mut Loader,
    rng: &mut Rng,
    posts: &[Post],
    progress: Progress<'_>,
) -> Result<(), LoadError> {
    let columns = &[
        "id",
        "user_id",
        "category_id",
        "title",
        "slug",
        "content",
        "published",
        "view_count",
        "published_at",
        "rating",
    ];
    let rows = posts.iter().map(|post| {
        let (published, views, at) = match post.state {
            State::Draft => (false, 0, Value::Null),
            State::Published { at, views } => (true, views, text(timestamp(at))),
        };
        // Hardly anybody rates what hardly anybody reads.
        let rating = if views < 60 { Value::Null } else { Value::Float(rng.u32(150..=500) as f64 / 100.0) };
        vec![
            Value::Int(post.id),
            int(author(rng)),
            int(category(&post.story)),
            text(post.title.as_str()),
            text(post.slug.as_str()),
            text(content(rng, &post.story)),
            truth(published),
            Value::Int(views as i64),
            at,
            rating,
        ]
    });
    load(loader, "posts", columns, rows, progress)
}

fn insert_comments(
    loader: &mut Loader,
    rng: &mut Rng,
    posts: &[Post],
    progress: Progress<'_>,
) -> Result<(), LoadError> {
    let published: Vec<(&Post, u64, u64)> = posts
        .iter()
        .filter_map(|post| match post.state {
            State::Draft => None,
            State::Published { at, views } => Some((post, at, views)),
        })
        .collect();
    let mut comments: Vec<(u64, &Post)> = (0..COMMENTS)
        .map(|_| {
            // Of two posts the one that is read more gets the comment.
            let (one, other) = (pick(rng, &published), pick(rng, &published));
            let (post, at, _) = if one.2 >= other.2 { one } else { other };
            // Most come in the first days, some after weeks.
            (at + rng.u64(60..45 * DAY) * rng.u64(1..=1000) / 1000, post)
        })
        .collect();
    comments.sort_by_key(|(at, post)| (*at, post.id));
    let rows = comments.iter().enumerate().map(|(index, (at, post))| {
        vec![
            int(index + 1),
            Value::Int(post.id),
            int(author(rng)),
            text(message(rng, &post.story)),
            text(timestamp(*at)),
        ]
    });
    load(loader, "comments", &["id", "post_id", "user_id", "message", "created_at"], rows, progress)
}

fn insert_post_tags(
    loader: &mut Loader,
    rng: &mut Rng,
    posts: &[Post],
    tags: &[&str],
    progress: Progress<'_>,
) -> Result<(), LoadError> {
    let mut pairs = Vec::new();
    for post in posts {
        let mut names = vec![pick(rng, post.story.topic.tags), pick(rng, post.story.topic.tags)];
        names.push(pick(rng, GENERAL_TAGS));
        names.dedup();
        pairs.extend(names.into_iter().map(|name| (post.id, name)));
    }
    let rows = pairs.iter().enumerate().map(|(index, (post, name))| {
        let tag = tags.iter().position(|tag| tag == name).expect("the list was collected from the topics");
        vec![int(index + 1), Value::Int(*post), int(tag + 1)]
    });
    load(loader, "post_tags", &["id", "post_id", "tag_id"], rows, progress)
}

fn insert_visitors(loader: &mut Loader, rng: &mut Rng, progress: Progress<'_>) -> Result<(), LoadError> {
    let rows = (0..VISITORS).map(|index| {
        // limit: a number in JavaScript is exact up to 53 bits.
        let id = rng.u64(1..1 << 53);
        let response = if rng.bool() { Value::Int(rng.i64(1..=5)) } else { Value::Null };
        let created = timestamp(VISITORS_FROM + index as u64 * 400 + rng.u64(..400));
        vec![Value::Int(id as i64), response, Value::Int(rng.i64(0..4)), text(created)]
    });
    load(loader, "visitors", &["id", "response", "closes", "created_at"], rows, progress)
}

fn load(
    loader: &mut Loader,
    table: &str,
    columns: &[&str],
    rows: impl ExactSizeIterator<Item = Vec<Value>>,
    progress: Progress<'_>,
) -> Result<(), LoadError> {
    let total = rows.len() as u64;
    loader.insert(table, columns, rows, &mut |count| progress(table, count, total))
}

/// The id of somebody who writes; those who joined first write most.
fn author(rng: &mut Rng) -> usize {
    rng.usize(..USERS).min(rng.usize(..USERS)) + 1
}

fn category(story: &Story) -> usize {
    let position = CATEGORIES.iter().position(|(name, _)| *name == story.topic.category);
    position.expect("a test looks up the category of every topic") + 1
}

/// Two to five sentences.
fn content(rng: &mut Rng, story: &Story) -> String {
    let count = rng.usize(1..=2);
    let facts = rng.choose_multiple(story.topic.facts, count);
    let mut templates = vec![pick(rng, OPENINGS)];
    templates.extend(facts.into_iter().copied());
    if rng.bool() {
        templates.insert(2, pick(rng, REMARKS));
    }
    if rng.bool() {
        templates.push(pick(rng, CLOSINGS));
    }
    tell_all(rng, story, &templates)
}

fn message(rng: &mut Rng, story: &Story) -> String {
    let mut templates = vec![pick(rng, REACTIONS)];
    match rng.u8(..10) {
        0..4 => templates.push(pick(rng, ADDITIONS)),
        4..6 => templates.push(pick(rng, story.topic.facts)),
        _ => {}
    }
    tell_all(rng, story, &templates)
}

fn tell_all(rng: &mut Rng, story: &Story, templates: &[&str]) -> String {
    let sentences: Vec<String> = templates.iter().map(|template| story.tell(rng, template)).collect();
    sentences.join(" ")
}

fn int(number: usize) -> Value {
    Value::Int(number as i64)
}

fn truth(value: bool) -> Value {
    Value::Int(i64::from(value))
}

fn text(text: impl Into<Box<str>>) -> Value {
    Value::Text(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics() -> Vec<&'static Topic> {
        trade::TOPICS.iter().chain(leisure::TOPICS).collect()
    }

    #[test]
    fn every_topic_has_a_category_and_every_important_tag_exists() {
        for topic in topics() {
            assert!(CATEGORIES.iter().any(|(name, _)| *name == topic.category), "{}", topic.category);
        }
        for tag in IMPORTANT_TAGS {
            assert!(tags(&topics()).contains(tag), "{tag}");
        }
    }

    #[test]
    fn no_template_leaves_a_mark_in_the_text() {
        let mut rng = Rng::with_seed(SEED);
        for post in posts(&mut rng, &topics()) {
            let all = [post.title.clone(), content(&mut rng, &post.story), message(&mut rng, &post.story)]
                .join(" ");
            assert!(!all.contains(['{', '}', '|', '<', '>', '@']) && !all.contains("  "), "{all}");
            assert!(post.title.len() <= 255 && post.slug.len() <= 255, "{}", post.title);
        }
    }

    #[test]
    fn a_story_is_told_in_two_to_five_sentences() {
        let mut rng = Rng::with_seed(SEED);
        for post in posts(&mut rng, &topics()).iter().take(1000) {
            let content = content(&mut rng, &post.story);
            let sentences = content.split_inclusive(". ").count();
            assert!((2..=5).contains(&sentences), "{content}");
        }
    }
}
