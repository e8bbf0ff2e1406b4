ALTER TABLE "access_tokens" ADD COLUMN "scope" text DEFAULT 'plants:create' NOT NULL;--> statement-breakpoint
-- Where plants are stored already, the index was built before this, without a lock on writes.
CREATE INDEX IF NOT EXISTS "plants_tag" ON "plants" USING btree (hashtextextended("tag", 0),"id") WHERE "plants"."tag" is not null;