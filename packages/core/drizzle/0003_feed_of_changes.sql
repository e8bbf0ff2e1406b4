CREATE TABLE "plant_deletions" (
	"id" bigint NOT NULL,
	"name" text NOT NULL,
	"tag" text,
	"created_at" timestamp with time zone NOT NULL,
	"created_in" "xid8",
	"changed_in" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"deleted_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "plant_deletions_changed_in_id_pk" PRIMARY KEY("changed_in","id")
);
--> statement-breakpoint
CREATE TABLE "plant_feed" (
	"epoch" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"forgotten_up_to" "xid8" DEFAULT '0' NOT NULL,
	"system_identifier" bigint DEFAULT (pg_control_system()).system_identifier NOT NULL
);
--> statement-breakpoint
CREATE INDEX "plant_deletions_id" ON "plant_deletions" USING btree ("id","changed_in");--> statement-breakpoint
INSERT INTO "plant_feed" DEFAULT VALUES;--> statement-breakpoint
-- Where plants are stored already, the column and the index were made before this, without a long lock.
ALTER TABLE "plants" ADD COLUMN IF NOT EXISTS "changed_in" "xid8";--> statement-breakpoint
-- The column gets its default by a statement of its own, so that the rows that are stored already keep null.
ALTER TABLE "plants" ALTER COLUMN "changed_in" SET DEFAULT pg_current_xact_id();--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "plants_changed_in" ON "plants" USING btree ("changed_in","id") WHERE "plants"."changed_in" is not null;
