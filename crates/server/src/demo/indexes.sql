-- The indexes of the sample blog: every foreign key, and the order in which posts are listed.

CREATE INDEX posts_user_id ON posts (user_id);
CREATE INDEX posts_category_id ON posts (category_id);
CREATE INDEX posts_published_at ON posts (published_at);
CREATE INDEX comments_post_id ON comments (post_id);
CREATE INDEX comments_user_id ON comments (user_id);
CREATE INDEX post_tags_tag_id ON post_tags (tag_id);
