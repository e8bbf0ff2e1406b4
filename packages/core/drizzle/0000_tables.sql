CREATE TABLE "access_tokens" (
	"id" text PRIMARY KEY DEFAULT left(md5(gen_random_uuid()::text), 16) NOT NULL,
	"sha256" text NOT NULL,
	"name" text NOT NULL,
	"scope" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "access_tokens_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
CREATE TABLE "plant_deletions" (
	"id" bigint NOT NULL,
	"name" text NOT NULL,
	"tag" text,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone,
	"created_in" "xid8",
	"changed_in" "xid8" DEFAULT case when current_setting('synchronous_commit') = 'off'
    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
    else pg_current_xact_id() end NOT NULL,
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
CREATE TABLE "plants" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"tag" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone,
	"created_in" "xid8" DEFAULT pg_current_xact_id(),
	"changed_in" "xid8" DEFAULT case when current_setting('synchronous_commit') = 'off'
    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
    else pg_current_xact_id() end
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"name" text PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"secret" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"epoch" text NOT NULL,
	"transaction" "xid8" NOT NULL,
	"last_id" bigint NOT NULL,
	"message_id" text,
	"to_transaction" "xid8",
	"to_id" bigint,
	"failures" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"paused_at" timestamp with time zone,
	"paused_because" text,
	"last_attempt" jsonb
);
--> statement-breakpoint
CREATE INDEX "plant_deletions_id" ON "plant_deletions" USING btree ("id","changed_in");--> statement-breakpoint
CREATE INDEX "plants_tag" ON "plants" USING btree (hashtextextended("tag", 0),"id") WHERE "plants"."tag" is not null;--> statement-breakpoint
CREATE INDEX "plants_changed_in" ON "plants" USING btree ("changed_in","id");