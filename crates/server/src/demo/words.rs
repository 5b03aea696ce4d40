//! Words: the categories, the tags, and the sentences that fit every topic.

/// A subject to write about.
pub struct Topic {
    /// The name of its category.
    pub category: &'static str,
    /// What to call it in a sentence, in a form that needs no article.
    pub name: &'static str,
    /// Tags of which a post gets one or two.
    pub tags: &'static [&'static str],
    /// What people do.
    pub tasks: &'static [Task],
    /// What people found out, in whole sentences.
    pub facts: &'static [&'static str],
}

/// A verb in its three forms (do, did, doing) and an object, in which `@` stands for our, your or the.
#[derive(Clone, Copy)]
pub struct Task(pub &'static [&'static str; 3], pub &'static str);

/// Names and descriptions of the categories.
pub const CATEGORIES: &[(&str, &str)] = &[
    ("Servers", "Machines that should keep running, and what to do when they do not."),
    ("Databases", "Tables, queries and the long life of other people's data."),
    ("Programming", "Writing code that can still be read next year."),
    ("Web", "Pages that load quickly and work for everybody."),
    ("Teamwork", "Working together without working late."),
    ("Garden", "Soil, seeds and the patience between them."),
    ("Kitchen", "Bread, coffee and other experiments that can be eaten."),
    ("Outdoors", "Going somewhere on foot or by bicycle."),
];

/// Tags that fit every post.
pub const GENERAL_TAGS: &[&str] = &["howto", "opinion", "lessons", "beginners", "long-read", "checklist"];

/// Tags that an editor would put on the front page.
pub const IMPORTANT_TAGS: &[&str] =
    &["lessons", "security", "accessibility", "performance", "recovery", "safety"];

/// Titles of posts.
pub const TITLES: &[&str] = &[
    "How we <did> <our>",
    "How to <do> <your>",
    "How to <do> <your> {in a weekend|in an afternoon|step by step|for the first time|on a small budget}",
    "How to <do> <your> without {losing sleep|regrets|spending much|making a mess of it|giving up halfway}",
    "Why we <did> <our>",
    "Why we {should have|almost never|finally} <did> <our>",
    "<doing> <our>",
    "<doing> <your>: {what works and what does not|a short guide|a checklist|a plan|a few warnings}",
    "What we learned from <doing> <our>",
    "What nobody {tells|told} you about <doing> <your>",
    "{Three|Four|Five|Six|Seven|Ten} {lessons|mistakes|surprises|notes} from <doing> <our>",
    "{Three|Four|Five|Six} {good|bad|simple} reasons to <do> <your>",
    "{A short|A slow|An honest|A beginner's|A careful} guide to <doing> <your>",
    "{Notes|Thoughts|Field notes|Some numbers} on <doing> <our>",
    "Before you <do> <your>, read this",
    "Is it worth <doing> <your>?",
    "The {week|month|day|year} we <did> <our>",
    "We <did> <our>, and {it was worth it|nothing broke|it took twice as long|we would do it again}",
    "The {hidden|real|true} {cost|reward|trouble} of <doing> <the>",
    "{Never|Do not|Try not to} <do> <your> {on a Friday|in a hurry|alone|before breakfast}",
];

/// First sentences of posts.
pub const OPENINGS: &[&str] = &[
    "Last {spring|summer|autumn|winter} we <did> <our>.",
    "For {two|three|four} years we put off <doing> <our>.",
    "It took us {three attempts|a whole weekend|one long evening|most of March} to <do> <our>.",
    "We <did> <our>, and this is what happened.",
    "{Many|Some|A few} readers asked how we <did> <our>.",
    "There comes a day when you have to <do> <your>.",
    "When we first thought of <doing> <our>, it {sounded easy|seemed impossible|felt like a luxury}.",
    "Nobody enjoys <doing> <the>, or so we {thought|were told}.",
    "A {friend|neighbour|colleague} asked whether it is worth <doing> <the>.",
    "We never planned to <do> <our>; it {just happened|came up by accident|started as a joke}.",
    "This is the story of how we <did> <our>.",
    "{Two months|Half a year|A year} ago we <did> <our>, and it is time to look back.",
];

/// Sentences for the middle of a post.
pub const REMARKS: &[&str] = &[
    "The first {hour|attempt|day} was the hardest.",
    "We {wrote down|noted|timed} every step, and that turned out to be the most useful part.",
    "Most of the time went into {preparation|cleaning up|finding the right tools|reading old notes}.",
    "It cost {less than we feared|more than we hoped|almost nothing|about as much as a good dinner}.",
    "We made {one|the classic} mistake: we {started too late|changed two things at once|skipped the boring part}.",
    "If you can, do it in {small steps|the morning|pairs|stages}, and stop when you are tired.",
    "There were {two|three} surprises, and only one of them was pleasant.",
    "Ask somebody who has done it before; {it saves a day|they will be glad to help|they know where it hurts}.",
    "We would {start smaller|plan less|take more pictures|keep better notes} next time.",
    "None of this is new, but it is {easy to forget|rarely written down|worth repeating}.",
];

/// Last sentences of posts.
pub const CLOSINGS: &[&str] = &[
    "We would do it again {tomorrow|any time|without a doubt}.",
    "If you try it, {let us know how it went|tell us what you changed|write to us}.",
    "It is not {perfect|finished|pretty}, but it {works|holds|does the job}.",
    "{Next month|Next time|In another post} we will look at the {costs|results|details}.",
    "{So far|Until now} nobody has complained.",
    "The {rest|remainder} is {practice|patience|habit}.",
    "In the end the {simple|slow|obvious} way was the best one.",
    "We keep a {list|notebook|checklist} now, and it {grows|helps} every week.",
];

/// Comments, or the first sentence of one.
pub const REACTIONS: &[&str] = &[
    "Thanks, this saved me {an afternoon|a weekend|a lot of trouble|some money}.",
    "{Great|Lovely|Clear|Useful|Honest} {post|write-up|story}, thank you.",
    "We <did> <our> {last year|in May|two years ago|last week}, and it went {much the same way|better than expected|wrong}.",
    "I tried to <do> <the> too, but {gave up halfway|it took me twice as long|I had to start over}.",
    "How long did it take you to <do> <the>?",
    "Would you still <do> <the> if you had to start over?",
    "I {disagree|am not so sure|see it differently}, but it is well written.",
    "I wish I had read this before <doing> <the>.",
    "This is exactly what I was looking for.",
    "{My sister|My manager|My father|A colleague} {sent me this|does not believe a word of it|says the same}.",
    "I never thought about <name> this way.",
    "The part about {preparation|the costs|the first attempt|mistakes} is spot on.",
    "Reading this for the {second|third} time, and it {still helps|gets better}.",
    "Finally somebody who writes {clearly|honestly|without jargon} about <name>.",
    "Small correction: {there is a word missing in the second sentence|the last step can be skipped}.",
    "{Bookmarked|Printed it out|Shared it with the whole team|Saved for later}.",
    "It did not work for me, {and I do not know why|perhaps I was too impatient|but I learned something}.",
    "Is there a {picture|list|shorter version} somewhere?",
];

/// Second sentences of comments.
pub const ADDITIONS: &[&str] = &[
    "Please write more about <name>.",
    "I will try it {this weekend|tomorrow|as soon as the weather is better}.",
    "{Looking forward to|Waiting for} the next part.",
    "In my experience the {first|last} step matters most.",
    "Did you consider doing it the other way round?",
    "{Cheers|Greetings|Best wishes} from {Utrecht|Porto|Kraków|Nairobi|Osaka|Montréal|Bergen}.",
    "A {small|cheap|second-hand} one works just as well, by the way.",
    "What would you do differently {today|next time}?",
    "It is all about patience.",
    "You made my {day|morning|week}.",
];
