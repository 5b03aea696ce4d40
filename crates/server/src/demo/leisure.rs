//! Topics of people who are away from their computers.

use crate::demo::words::{Task, Topic};

/// Garden, kitchen and outdoors.
pub const TOPICS: &[Topic] = &[
    Topic {
        category: "Garden",
        name: "vegetables",
        tags: &["vegetables", "soil"],
        tasks: &[
            Task(
                &["grow", "grew", "growing"],
                "@ {tomatoes|beans|potatoes|peppers} {on a balcony|in the shade|in old buckets|from seed}",
            ),
            Task(
                &["water", "watered", "watering"],
                "@ {garden|greenhouse|raised beds} {during a heat wave|with rain only|from a barrel}",
            ),
            Task(
                &["plant", "planted", "planting"],
                "@ {garlic|fruit trees|herbs|onions} {in autumn|too early|between the roses}",
            ),
            Task(&["feed", "fed", "feeding"], "@ soil with {compost|coffee grounds|leaves}"),
            Task(
                &["protect", "protected", "protecting"],
                "@ {salad|cabbage|strawberries} from {slugs|birds|late frost}",
            ),
        ],
        facts: &[
            "The slugs ate {all|most|half} of it in one night.",
            "Sow {two weeks later|less|deeper} than the packet says.",
            "We picked {four|seven|twelve} kilos from {two|three} square metres.",
            "Compost is the {cheapest|slowest|best} fertiliser there is.",
            "Water in the morning, and water the {soil|roots} instead of the leaves.",
            "The best harvest came from a plant that we had not {planted|noticed}.",
        ],
    },
    Topic {
        category: "Garden",
        name: "repairs",
        tags: &["repairs", "tools", "safety"],
        tasks: &[
            Task(
                &["repair", "repaired", "repairing"],
                "@ {garden gate|wooden bench|lawn mower|greenhouse roof} with {scrap wood|borrowed tools|wire and patience}",
            ),
            Task(
                &["sharpen", "sharpened", "sharpening"],
                "@ {tools|shears|old saw} {by hand|twice a year|on a wet stone}",
            ),
            Task(
                &["build", "built", "building"],
                "@ {shed|bird house|cold frame|rain barrel stand} from {pallets|old windows|leftovers}",
            ),
            Task(
                &["paint", "painted", "painting"],
                "@ {fence|shed|garden chairs} {before the rain|in one day|in the wrong colour}",
            ),
        ],
        facts: &[
            "A sharp tool is safer than a blunt one.",
            "Measure twice, because the {shop|timber yard} is closed on Sundays.",
            "One screw was missing, as it {always|usually} is.",
            "The old wood was {harder|drier|straighter} than anything we could buy.",
            "Wear the {gloves|glasses}, even if it is only for a minute.",
            "It cost {nine|fourteen|twenty} euros and {two|three} afternoons.",
        ],
    },
    Topic {
        category: "Kitchen",
        name: "bread",
        tags: &["bread", "recipes"],
        tasks: &[
            Task(
                &["bake", "baked", "baking"],
                "@ {rye|white|spelt|sourdough} bread {in an old pot|on a stone|before breakfast|on a campfire}",
            ),
            Task(
                &["keep", "kept", "keeping"],
                "@ sourdough alive {during the holidays|in a cold kitchen|for ten years}",
            ),
            Task(&["knead", "kneaded", "kneading"], "@ dough {by hand|for half an hour|without a machine}"),
            Task(&["mill", "milled", "milling"], "@ flour {at home|with a hand mill|in small batches}"),
        ],
        facts: &[
            "The dough decides when it is ready, not the {clock|recipe|cook}.",
            "More water makes a better crumb and a {stickier|messier} table.",
            "The first {three|four|six} loaves went to the {birds|chickens|neighbours}.",
            "Let it cool before you cut it, however hard that is.",
            "A kitchen scale is worth more than any {machine|cookbook}.",
            "Salt last, and never more than {two|two and a half} percent.",
        ],
    },
    Topic {
        category: "Kitchen",
        name: "coffee",
        tags: &["coffee", "recipes"],
        tasks: &[
            Task(
                &["brew", "brewed", "brewing"],
                "@ coffee {in a jar|with a paper filter|on a mountain|at the office|without electricity}",
            ),
            Task(&["roast", "roasted", "roasting"], "@ beans {in a pan|in a popcorn machine|on the balcony}"),
            Task(
                &["descale", "descaled", "descaling"],
                "@ {espresso machine|kettle|office machine} {with vinegar|every month}",
            ),
            Task(
                &["taste", "tasted", "tasting"],
                "@ {cheapest|twelve favourite|oldest} beans {blindfolded|side by side}",
            ),
        ],
        facts: &[
            "Grind just before you brew; nothing else makes such a difference.",
            "Water that is {too hot|too hard|not fresh} spoils the best beans.",
            "Nobody could tell the expensive beans from the {cheap|old} ones.",
            "{Sixteen|Fifteen|Eighteen} grams for a quarter of a litre is a good start.",
            "A clean machine tastes better than a new one.",
            "After the {fourth|fifth|sixth} cup everything tastes {the same|interesting}.",
        ],
    },
    Topic {
        category: "Outdoors",
        name: "cycling",
        tags: &["cycling", "travel"],
        tasks: &[
            Task(
                &["ride", "rode", "riding"],
                "@ bicycles {to the sea|to work all winter|across the Alps|along the river}",
            ),
            Task(&["true", "trued", "truing"], "@ {front|rear|bent} wheel {at the roadside|by ear}"),
            Task(
                &["oil", "oiled", "oiling"],
                "@ {chain|brakes|gears} {every Sunday|after rain|with the wrong oil}",
            ),
            Task(
                &["load", "loaded", "loading"],
                "@ {cargo bike|touring bike|trailer} for {a month|two children|a weekend}",
            ),
        ],
        facts: &[
            "The wind comes from the front, in both directions.",
            "Every kilo that stays at home is a {hill|headwind} less.",
            "We had {two|three|five} flat tyres and one {broken chain|bent rim}.",
            "Eat before you are hungry and drink before you are thirsty.",
            "Rain is only a question of {clothes|mudguards|attitude}.",
            "The best roads have {no|the smallest} numbers.",
        ],
    },
    Topic {
        category: "Outdoors",
        name: "hiking",
        tags: &["hiking", "travel", "safety"],
        tasks: &[
            Task(
                &["walk", "walked", "walking"],
                "@ {coastal|mountain|forest|old pilgrims'} path {in three days|in the rain|in late autumn|with children}",
            ),
            Task(
                &["pack", "packed", "packing"],
                "@ rucksack for {a long weekend|three seasons|the high hills}",
            ),
            Task(&["pitch", "pitched", "pitching"], "@ tent {in the dark|in a storm|on rock}"),
            Task(&["read", "read", "reading"], "@ {map|compass|clouds} {without a phone|in thick fog}"),
        ],
        facts: &[
            "The weather turned at {noon|two o'clock|the worst possible moment}.",
            "Turn around while it is still {easy|light}.",
            "Dry socks are worth more than a {third jumper|better tent}.",
            "We walked {fourteen|eighteen|twenty-two} kilometres and met {one dog|nobody|two cows}.",
            "A paper map has never run out of battery.",
            "The view from the top was {white|worth it|hidden by fog}, but the soup was good.",
        ],
    },
];
