//! The list of all promises, and the macros that make a test of each for an engine. A test of this crate
//! proves that no promise is left out of the list.

/// Stamps every promise for an engine, given as a path from the crate's root.
#[macro_export]
macro_rules! conformance {
    ($engine:path) => {
        $crate::stamp_promises!($engine, catalog: {
            a_catalog_has_an_id_and_a_key_of_its_own,
            the_two_newest_keys_are_valid,
            keys_rotated_at_once_get_numbers_of_their_own,
            the_first_start_is_claimed_once,
            a_sound_catalog_has_no_findings,
            a_gap_in_the_log_is_found,
            a_closed_catalog_answers_that_it_is_away,
        });
        $crate::stamp_promises!($engine, change_log: {
            a_log_is_read_from_any_position,
            a_trimmed_log_tells_its_floor,
            old_entries_and_those_beyond_the_limit_go,
            an_entry_of_a_clock_that_was_set_back_leaves_no_gap,
            a_revision_is_the_head_of_the_log,
            a_committed_entry_is_counted_until_it_has_a_position,
            who_follows_is_told_of_what_is_appended,
            a_process_does_not_hint_to_itself,
            a_settled_log_has_a_position_for_every_commit,
            a_pending_entry_tells_how_long_it_has_waited,
            an_entry_is_read_as_it_was_written,
            n133_entries_carry_the_clock_of_the_catalog,
            n186_positions_are_dense_under_many_writers,
        });
        $crate::stamp_promises!($engine, concurrency: {
            w132_of_two_with_one_explicit_name_one_gets_it,
            many_directories_of_one_base_name_get_the_first_numbers,
            many_registrations_of_one_root_make_one_row,
            w186_of_two_updates_with_one_etag_one_succeeds,
            of_two_renames_to_one_name_one_succeeds,
            a_page_is_one_snapshot_under_writes,
            a_walk_sees_every_untouched_row_once,
            many_callers_end_in_what_each_of_them_did,
            a_write_behind_its_deadline_is_not_begun,
            a_caller_that_goes_away_does_not_undo_its_write,
        });
        $crate::stamp_promises!($engine, counted: {
            a_total_is_carried_while_nothing_changes,
            a_total_is_counted_again_after_a_change,
            a_total_of_another_epoch_is_counted_again,
            a_total_of_a_status_is_always_counted,
        });
        $crate::stamp_promises!($engine, failing_commits: {
            w288_a_failed_registration_leaves_nothing_and_the_next_one_works,
            w289_a_failed_move_leaves_the_order,
            no_failed_write_leaves_anything,
        });
        $crate::stamp_promises!($engine, identity: {
            a_new_durable_id_is_a_new_state,
            the_same_durable_id_only_ends_the_intent,
            an_unknown_workspace_gets_no_durable_id,
        });
        $crate::stamp_promises!($engine, intents: {
            an_intent_is_found_as_it_was_written,
            only_others_of_the_same_host_recover_an_intent,
            a_lease_protects_an_intent_where_owners_share_a_catalog,
            an_intent_of_an_unknown_kind_is_left_alone,
            an_intent_that_makes_no_sense_is_left_alone,
            a_registration_leaves_the_move_of_a_directory_alone,
            the_move_of_a_directory_is_stored_with_a_content_of_the_usual_size,
            a_path_lock_keeps_out_everybody_else,
            many_wait_for_one_path_and_each_gets_it_alone,
        });
        $crate::stamp_promises!($engine, keyset: {
            the_rows_of_some_ids_are_those_that_exist_for_the_caller,
            rows_read_by_id_name_only_visible_shares,
            pages_above_an_id_meet_every_visible_row_once,
            a_page_above_an_id_shows_rows_as_they_are_then,
        });
        $crate::stamp_promises!($engine, logged: {
            n006_each_operation_appends_one_entry_with_its_reason,
            n007_a_move_appends_one_entry_of_the_order,
            a_removal_appends_one_entry_that_says_what_became_of_sessions,
            n011_what_changes_nothing_appends_nothing,
            n012_a_refused_call_appends_nothing,
            n013_reading_appends_nothing,
            n017_a_status_is_told_when_it_changes,
            n020_a_rename_that_fails_at_its_commit_leaves_the_old_name,
            n022_a_repeated_request_appends_one_entry,
            n023_a_registered_path_appends_nothing,
            the_log_tells_the_time_of_its_entries,
        });
        $crate::stamp_promises!($engine, list: {
            w207_an_empty_catalog_is_one_empty_page,
            w209_w210_pages_end_where_the_rows_end,
            w211_w233_a_removed_last_row_does_not_stop_the_walk,
            w212_an_unseen_row_that_moves_to_the_front_is_skipped_and_no_other,
            a_seen_row_that_moves_to_the_end_changes_nothing_for_the_others,
            w218_names_are_ordered_by_their_keys,
            w219_equal_times_are_ordered_by_path_then_id,
            equal_ranks_are_ordered_by_path_then_id,
            the_latest_registration_and_change_come_first,
            a_place_of_another_order_is_a_defect,
        });
        $crate::stamp_promises!($engine, list_filters: {
            w206_a_name_prefix_has_one_total_on_every_page,
            a_prefix_is_taken_literally,
            a_search_finds_ids_names_titles_and_roots,
            a_search_follows_every_change,
            a_status_is_what_the_observer_last_saw,
            filters_are_joined_by_and,
        });
        $crate::stamp_promises!($engine, names: {
            w133_w134_a_derived_name_gets_the_next_number,
            w135_w140_a_derived_name_gets_the_first_free_number,
            w136_a_name_is_taken_in_every_case,
            w138_a_long_base_name_leaves_room_for_its_number,
            a_hundred_directories_of_one_base_name,
            a_taken_explicit_name_is_refused_and_nothing_is_written,
            the_holder_of_a_name_is_hidden_from_those_who_may_not_see_it,
            the_path_is_looked_at_before_the_name,
            a_name_is_found_by_its_key,
        });
        $crate::stamp_promises!($engine, observations: {
            a_round_is_claimed_once_in_a_period,
            a_clock_that_was_set_back_does_not_stop_the_rounds,
            of_several_owners_one_gets_the_round,
            the_first_look_at_a_root_that_is_fine_is_no_change,
            w325_a_new_status_moves_the_version_and_nothing_else,
            the_same_status_again_only_tells_when,
            missing_counts_from_the_first_look_without_a_break,
            a_removed_or_unknown_workspace_is_passed_over,
            many_who_see_the_same_append_one_entry,
        });
        $crate::stamp_promises!($engine, observed_status: {
            an_unknown_status_is_as_good_as_none,
        });
        $crate::stamp_promises!($engine, order: {
            w201_only_the_moved_one_changes_its_place,
            w202_without_an_anchor_it_goes_to_the_end,
            w203_a_move_to_where_it_is_writes_nothing,
            w204_the_id_is_looked_at_before_the_anchor,
            w205_the_order_equals_that_of_a_model,
            neighbours_are_told_to_those_who_may_see_them,
            rows_of_all_hosts_share_the_order,
        });
        $crate::stamp_promises!($engine, order_spread: {
            w205_a_wedged_order_is_spread_anew,
            a_spread_keeps_the_order_of_many_rows,
        });
        $crate::stamp_promises!($engine, profiles: {
            r100_r103_a_created_profile_holds_what_was_given,
            n008_each_operation_on_a_profile_appends_one_entry,
            r104_a_taken_name_is_refused_also_that_of_an_archived_profile,
            a_deleted_profile_is_gone_and_its_name_is_free,
            r107_archiving_changes_the_state_and_nothing_else,
            a_profile_is_shown_as_it_was_last_told,
            what_changes_nothing_of_a_profile_writes_nothing,
            a_stale_etag_changes_no_profile,
            an_unknown_profile_is_not_found,
            a_rename_of_a_profile_ends_its_intent,
            a_repeated_request_about_a_profile_gets_the_first_answer,
            no_failed_or_late_write_leaves_anything_of_a_profile,
            the_newest_instant_is_that_of_the_last_change_of_a_profile,
        });
        $crate::stamp_promises!($engine, profile_pages: {
            profiles_are_listed_by_the_bytes_of_their_names,
            a_page_of_profiles_holds_the_states_that_were_asked_for,
            a_deleted_or_renamed_last_profile_does_not_stop_the_walk,
            a_total_of_profiles_is_carried_while_nothing_changes,
            a_profile_is_read_with_the_head_of_the_log,
            profiles_are_found_by_their_ids,
            pages_above_an_id_meet_every_profile_once,
        });
        $crate::stamp_promises!($engine, profile_selections: {
            a_selection_is_remembered_for_a_workspace_and_for_everything_else,
            n008_a_selection_appends_one_entry_with_a_version_of_its_own,
            what_changes_no_selection_writes_nothing,
            r111_an_unknown_profile_is_not_selected,
            r229_an_archived_profile_is_not_selected,
            r107_selections_outlive_a_rename_and_an_archive,
            a_deleted_profile_takes_its_selections_along,
            a_removed_workspace_takes_its_selection_along,
            selections_are_found_for_some_workspaces,
            nothing_is_selected_for_a_workspace_that_does_not_exist_for_the_caller,
            a_repeated_selection_undoes_nothing_that_came_after,
        });
        $crate::stamp_promises!($engine, profile_rows: {
            bad_profiles_are_listed_and_named,
            bad_profiles_are_neither_changed_nor_selected,
            bad_profiles_go_when_they_are_named,
            selections_of_what_is_not_there_are_found,
        });
        $crate::stamp_promises!($engine, profile_races: {
            r104_of_two_creates_at_once_one_succeeds,
            of_two_renames_of_profiles_to_one_name_one_succeeds,
            of_two_changes_of_a_profile_with_one_etag_one_succeeds,
            a_selection_never_outlives_its_profile,
            no_profile_is_selected_once_it_is_archived,
            a_selection_never_outlives_its_workspace,
            selections_made_at_once_count_up_one_by_one,
            many_creates_with_one_request_id_make_one_profile,
        });
        $crate::stamp_promises!($engine, prune: {
            w234_thirty_days_are_counted_to_the_instant,
            w235_only_tried_it_names_them_and_keeps_them,
            w237_an_unreadable_root_is_never_pruned,
            w238_only_its_own_observations_count,
            w239_a_break_starts_the_count_anew,
            a_prune_has_a_limit_and_says_whether_more_are_due,
            a_prune_sees_what_its_caller_sees_of_one_host,
        });
        $crate::stamp_promises!($engine, register: {
            a_new_row_holds_what_was_given,
            a_registration_appends_one_entry_behind_its_revision,
            a_new_one_comes_first_also_after_moves_to_the_front,
            a_registered_root_is_answered_as_it_is,
            the_same_root_on_another_host_is_another_workspace,
            only_tried_nothing_is_left,
            a_registration_ends_its_intent,
            a_registration_takes_over_what_a_dead_one_made,
            a_refused_registration_keeps_its_intent,
            a_root_longer_than_an_index_takes_is_refused,
        });
        $crate::stamp_promises!($engine, relink: {
            only_the_root_changes,
            a_root_that_is_there_or_moved_on_is_answered_unchanged,
            a_root_of_another_row_is_refused,
            a_stale_etag_relinks_nothing,
            only_tried_nothing_is_relinked,
            a_relinked_root_was_not_looked_at_yet,
        });
        $crate::stamp_promises!($engine, remove: {
            w229_a_missing_one_is_not_found_unless_that_is_allowed,
            w230_the_second_removal_finds_nothing,
            w231_a_removal_appends_one_entry,
            a_stale_etag_removes_nothing,
            a_directory_registered_again_starts_anew,
            w232_a_workspace_whose_root_is_missing_can_be_removed,
        });
        $crate::stamp_promises!($engine, request_ids: {
            w105_a_repeated_request_gets_the_first_answer_for_a_day,
            w106_an_id_is_for_one_request,
            w107_after_a_day_it_is_a_new_request,
            w317_a_failure_is_not_remembered,
            w318_a_try_is_not_remembered,
            w319_an_id_belongs_to_a_principal_and_a_method,
            w320_a_repetition_undoes_nothing_that_came_after,
            w322_a_repeated_removal_succeeds_and_a_second_one_fails,
            an_answer_is_kept_up_to_its_limit,
            a_success_that_changes_nothing_is_remembered_too,
            old_answers_are_forgotten_and_young_ones_kept,
        });
        $crate::stamp_promises!($engine, request_races: {
            w109_twenty_calls_with_one_id_make_one_row,
            w321_of_two_requests_with_one_id_one_is_refused,
            a_failed_one_makes_room_for_the_next,
            a_forgotten_one_is_carried_out_once_as_well,
        });
        $crate::stamp_promises!($engine, rows: {
            w294_c163_bad_rows_are_listed_and_named,
            w294_bad_rows_are_not_changed,
            w294_bad_rows_go_only_when_they_are_named,
            w294_good_rows_are_served_beside_bad_ones,
        });
        $crate::stamp_promises!($engine, trim: {
            n107_the_newest_entries_stay,
            n110_what_is_older_goes_although_it_is_little,
            n111_of_two_million_the_newest_million_stays,
            n112_writers_and_readers_go_on_while_the_log_is_trimmed,
            n116_a_trimmed_removal_leaves_no_row,
        });
        $crate::stamp_promises!($engine, update: {
            w184_a_title_is_stored_with_a_new_state,
            w185_a_stale_etag_is_refused,
            w187_a_change_of_nothing_writes_nothing,
            w191_w192_directories_are_replaced,
            w193_w195_directories_are_added_and_taken_away,
            w141_a_name_may_change_its_case,
            w142_a_name_of_another_row_is_refused,
            only_tried_nothing_is_written,
            w200_an_unknown_or_removed_workspace_is_not_found,
            w198_a_workspace_whose_root_is_missing_can_be_changed,
        });
        $crate::stamp_promises!($engine, visibility: {
            w327_rows_and_totals_are_those_that_exist_for_the_caller,
            w327_a_hidden_workspace_is_like_one_that_never_was,
            removing_a_hidden_workspace_removes_nothing,
            shares_of_an_identity_are_those_that_exist_for_the_caller,
            the_observer_and_discovery_see_every_row_of_their_host,
            roots_are_found_by_path_and_by_file,
        });
    };
}

/// Stamps what an engine promises that can be opened again.
#[macro_export]
macro_rules! conformance_of_reopened {
    ($engine:path) => {
        $crate::stamp_promises!($engine, reopened: {
            w202_w218_every_order_is_the_same_after_a_restart,
            w289_a_failed_move_leaves_the_order_after_a_restart,
            a_catalog_keeps_its_identity,
            the_log_goes_on_where_it_stood,
            answers_and_intents_outlive_the_process,
            profiles_and_selections_outlive_the_process,
        });
    };
}

/// Stamps what an engine promises that several processes can have open.
#[macro_export]
macro_rules! conformance_of_shared {
    ($engine:path) => {
        $crate::stamp_promises!($engine, shared: {
            a_path_lock_keeps_out_other_processes,
            two_processes_number_one_log,
            a_request_is_carried_out_once_by_all_processes,
            keys_rounds_and_the_first_start_belong_to_the_catalog,
            n018_of_two_that_see_a_root_missing_one_tells,
        });
    };
}

/// Makes the tests of one topic.
#[doc(hidden)]
#[macro_export]
macro_rules! stamp_promises {
    ($engine:path, $topic:ident: { $($promise:ident,)+ }) => {
        mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $promise() {
                    let test = concat!(module_path!(), "::", stringify!($promise));
                    $crate::conformance::run::<$engine, _>(test, $crate::conformance::$topic::$promise).await;
                }
            )+
        }
    };
}
