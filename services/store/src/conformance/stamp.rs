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
        $crate::stamp_promises!($engine, session_attach_lease: {
            n015_an_operator_enters_and_the_lapse_is_told_once,
            s178_another_operator_does_not_get_in,
            s179_the_same_operator_renews,
            s180_of_32_operators_at_once_one_gets_in,
            s181_s182_only_an_active_session_is_entered,
            s183_s188_a_stalled_session_is_not_entered,
            s184_s185_a_lapsed_lease_is_over_before_the_sweep_tells,
            an_operator_leaves_once,
            s187_a_stop_ends_the_lease_of_an_operator,
            s190_the_lease_of_an_operator_leaves_that_of_the_runtime_alone,
            a_heartbeat_leaves_the_lease_of_an_operator_alone,
        });
        $crate::stamp_promises!($engine, session_badges: {
            s191_s192_health_is_what_the_runtime_reports,
            s193_silence_for_longer_than_two_minutes_is_stale,
            s195_n016_each_edge_of_a_silence_is_told_once,
            a_silence_that_nobody_has_seen_is_not_told,
            s196_a_stopped_session_is_dead,
            s198_looking_at_health_writes_nothing,
            s201_s202_s209_a_badge_says_what_is_waited_for,
            s203_s204_s205_s206_a_settled_turn_is_done_until_it_is_seen,
            s208_a_stopped_session_is_not_done,
            s197_a_reason_says_why_a_session_is_not_woken,
            a_silent_session_is_not_woken,
        });
        $crate::stamp_promises!($engine, session_bind: {
            a_bound_runtime_holds_a_lease_for_its_ttl,
            s069_a_held_lease_is_not_given_to_another_holder,
            s070_a_lapsed_lease_is_given_to_another_holder,
            the_same_holder_binds_again_and_gets_another_generation,
            s071_of_32_who_bind_at_once_one_gets_the_lease,
            s073_a_stopped_session_gets_no_runtime,
            s074_an_archived_session_gets_no_runtime,
            s079_who_was_followed_by_another_holder_has_lost_the_lease,
            s085_a_deleted_session_takes_its_lease_along,
            a_lease_leads_to_its_session_while_it_is_held,
        });
        $crate::stamp_promises!($engine, session_change: {
            s087_s088_a_session_without_runtime_stops_at_once,
            s094_s095_a_stopped_session_stays_as_it_is,
            s148_a_rename_tells_the_collapsed_name,
            s152_live_stopped_and_archived_sessions_are_renamed,
            s153_a_stale_etag_changes_nothing,
            s155_a_rename_that_fails_at_its_commit_leaves_the_old_name,
            s156_s157_s158_a_session_is_archived_and_taken_back,
            s159_a_live_session_is_not_archived,
            labels_and_permission_mode_are_updated,
            s051_an_unknown_session_is_not_found,
            a_hidden_session_is_like_one_that_never_was,
            every_change_of_state_is_kept_once,
            s336_a_caller_that_goes_away_does_not_undo_a_change,
        });
        $crate::stamp_promises!($engine, session_change_races: {
            s154_of_two_renames_with_one_etag_one_succeeds,
            s160_of_many_who_archive_a_session_one_does,
            s169_of_many_who_delete_a_session_one_does,
            s352_many_pairs_of_archive_and_unarchive_leave_everything_as_it_was,
            callers_that_meet_leave_whole_sessions,
        });
        $crate::stamp_promises!($engine, session_change_resume: {
            s139_a_stopped_session_starts_again,
            s140_a_starting_session_is_resumed_already,
            s141_a_running_session_is_not_resumed,
            s142_an_archived_session_is_not_resumed,
            s143_of_many_who_resume_a_session_one_does,
            s144_the_token_of_before_a_resume_is_over,
            s145_a_session_whose_workspace_is_gone_is_resumed,
            s146_a_session_that_stops_again_is_the_same_one,
            s147_stopped_sessions_can_be_resumed_unless_archived,
        });
        $crate::stamp_promises!($engine, session_clock: {
            s137_everything_works_when_the_clock_is_set_back,
            an_instant_is_not_below_a_stored_one_of_the_only_process,
            a_read_and_a_refused_write_store_no_instant,
            a_moved_clock_moves_everything,
        });
        $crate::stamp_promises!($engine, session_counts: {
            kept_numbers_are_summed_by_every_condition,
            s061_sessions_with_roles_of_similar_names_are_ordinary,
            s324_numbers_are_exact_after_every_answer,
            folding_adds_every_delta_once,
            a_fold_takes_a_bounded_number_of_deltas,
            numbers_are_true_after_many_callers_and_folds,
            a_number_is_that_of_one_snapshot,
            s326_wrong_numbers_are_set_right,
            numbers_are_counted_anew_beside_writers,
            s334_a_late_creation_is_whole_or_nothing,
            a_late_deletion_is_whole_or_nothing,
        });
        $crate::stamp_promises!($engine, session_create: {
            s001_s002_a_new_session_holds_what_was_given,
            every_field_of_a_new_session_is_kept,
            s003_a_creation_appends_one_entry_behind_its_revision,
            s005_a_session_is_made_starting,
            an_ungrouped_session_is_on_no_account,
            s030_two_sessions_have_one_name,
            s036_a_session_stays_with_the_profile_of_its_creation,
            what_a_session_needs_has_to_be_there,
            a_root_that_moved_meanwhile_is_noticed,
            a_new_session_comes_first_on_its_account,
            s358_a_session_is_bound_as_it_is_made,
            s053_a_child_knows_its_parent_and_its_root,
            s054_a_parent_in_another_workspace_is_refused,
            s055_s171_children_stay_when_their_parent_goes,
            s056_a_parent_that_is_gone_stays_as_a_label,
            s057_a_stopped_and_archived_parent_has_children,
            internal_sessions_are_told_as_such,
            no_failed_creation_leaves_anything,
        });
        $crate::stamp_promises!($engine, session_create_ids: {
            s039_s040_a_free_id_is_taken_once,
            s042_of_many_who_take_one_id_one_gets_it,
            s043_s046_a_repeated_creation_gets_the_first_answer_for_a_day,
            s044_of_many_with_one_request_one_is_carried_out,
            s045_a_request_id_is_for_one_creation,
            s047_after_a_day_it_is_another_session,
            s372_the_id_of_a_deleted_session_is_never_used_again,
            s372_an_id_is_not_free_while_its_session_is_deleted,
            s370_a_repeated_rename_undoes_nothing_that_came_after,
            s371_a_request_id_belongs_to_a_principal_a_method_and_a_success,
            s359_a_repeated_creation_binds_nobody_again,
        });
        $crate::stamp_promises!($engine, session_delete: {
            s164_a_deleted_session_is_gone_and_told,
            s166_a_live_session_is_not_deleted,
            s167_a_live_session_goes_completely_with_force,
            s168_a_missing_session_is_not_found_unless_that_is_allowed,
            s170_an_archived_session_is_deleted,
            s173_the_others_stay_in_their_order,
            a_stale_etag_deletes_nothing,
            a_deletion_that_fails_at_its_commit_deletes_nothing,
            a_row_that_is_not_understood_is_deleted_and_not_changed,
            a_session_whose_workspace_is_gone_without_a_word_is_changed_and_deleted,
            r108_a_profile_that_sessions_own_is_not_deleted,
            r108_no_session_outlives_its_profile,
        });
        $crate::stamp_promises!($engine, session_finish: {
            s089_s090_a_bound_session_stops_with_the_word_of_its_runtime,
            the_same_last_word_again_succeeds_and_writes_nothing,
            s091_s092_s093_the_first_cause_stays_and_its_detail_may_follow,
            s096_of_many_who_stop_a_session_one_cause_is_kept,
            s116_s117_the_first_cause_wins_over_that_of_the_last_word,
            a_last_word_without_a_kind_is_an_unknown_failure,
            a_last_word_of_a_start_is_a_failed_start,
            s119_after_the_sweep_the_last_word_comes_too_late,
            s120_a_stop_beside_a_last_word_is_classified_once_and_whole,
        });
        $crate::stamp_promises!($engine, session_heartbeat: {
            s075_a_heartbeat_renews_and_nothing_else,
            s076_n014_a_thousand_heartbeats_without_news_append_nothing,
            s077_n014_an_activity_alone_is_no_change,
            n014_what_is_waited_for_is_told_once,
            the_record_follows_an_activity_within_ten_seconds,
            s080_a_lease_that_never_was_is_lost,
            a_lapsed_lease_is_lost_before_the_sweep_has_seen_it,
            s081_a_lost_lease_does_not_fail_the_others_of_its_batch,
            s082_a_thousand_leases_are_renewed_in_one_batch,
            heartbeats_of_one_lease_in_a_batch_follow_each_other,
            a_heartbeat_that_was_kept_waiting_renews_a_lease_that_was_held_when_it_came,
            the_first_heartbeat_makes_a_start_active,
            s083_s084_a_heartbeat_tells_that_a_stop_was_asked_for,
            a_row_that_is_not_understood_does_not_fail_the_others_of_its_batch,
            batches_that_share_leases_end_together,
        });
        $crate::stamp_promises!($engine, session_outage: {
            s365_an_absence_grants_one_ttl_and_no_second_one,
            s366_an_absence_is_longer_than_ten_seconds,
            after_an_absence_a_lapsed_lease_is_held_until_the_sweep,
            a_lease_that_had_lapsed_before_the_absence_is_given_up_after_it,
            a_start_is_not_given_up_right_after_an_absence,
        });
        $crate::stamp_promises!($engine, session_reads: {
            a_session_is_read_with_the_head_of_the_log,
            sessions_are_found_by_their_ids,
            a_session_tells_the_name_that_its_workspace_has_now,
            the_last_thousand_changes_of_state_are_told,
        });
        $crate::stamp_promises!($engine, session_sweep: {
            s122_a_lease_that_has_not_lapsed_is_left_alone,
            s123_s124_a_lapsed_session_is_given_up_once,
            s125_a_stop_that_did_not_complete_is_given_up,
            s126_a_start_that_takes_too_long_is_given_up,
            a_start_takes_as_long_as_it_may,
            s128_an_active_session_without_a_runtime_never_lapses,
            every_session_of_more_than_a_piece_is_given_up_once,
            s130_what_a_killed_sweep_leaves_the_next_one_does,
            s131_a_heartbeat_at_the_instant_of_a_sweep_is_taken_or_lost,
            s136_a_row_that_cannot_be_read_keeps_nobody_from_being_swept,
            damaged_bytes_keep_nobody_from_being_swept,
            s207_a_lost_session_that_waited_has_failed,
            a_resumed_session_is_swept_by_its_new_lease,
            a_sweep_behind_its_deadline_keeps_what_it_has_done,
            the_last_run_of_the_sweep_is_remembered,
        });
        $crate::stamp_promises!($engine, session_accounts: {
            w248_a_new_session_comes_first_on_its_account,
            w254_a_session_whose_directory_is_owned_is_attached_in_front,
            w255_a_member_is_attached_without_a_write,
            w256_an_unknown_session_is_not_attached,
            w258_a_directory_outside_of_the_root_is_refused,
            what_was_seen_of_a_directory_has_to_be_so_still,
            w259_a_session_goes_from_one_account_to_another_at_once,
            w260_a_session_is_detached_once,
            w261_an_unknown_session_is_not_detached,
            w266_a_new_session_takes_the_front_that_was_left,
            s220_a_deleted_session_leaves_the_others_where_they_are,
            w340_a_session_on_another_account_is_not_detached,
            accounts_of_others_do_not_exist,
            a_row_that_is_not_understood_stays_where_it_is,
        });
        $crate::stamp_promises!($engine, session_account_lists: {
            s212_the_manual_order_is_that_of_the_account,
            what_a_session_does_moves_it_nowhere,
            s214_a_moved_session_is_listed_where_it_was_put,
            s216_s217_a_detached_session_is_listed_without_a_workspace_until_it_is_back,
        });
        $crate::stamp_promises!($engine, session_account_model: {
            accounts_equal_those_of_a_model,
            s227_accounts_add_up_under_many_callers,
            nobody_joins_an_account_that_is_removed,
        });
        $crate::stamp_promises!($engine, session_counts_of_workspace: {
            w268_a_workspace_tells_how_many_sessions_it_has,
            s163_an_archived_session_is_counted_as_one,
            every_state_has_a_number,
            internal_sessions_are_not_counted,
            w047_s222_sessions_move_along_with_the_root,
            a_found_registration_tells_its_numbers,
        });
        $crate::stamp_promises!($engine, session_examine: {
            sound_sessions_have_no_findings,
            c165_s326_a_falsified_count_is_named_and_put_right,
            a_session_of_a_workspace_that_no_row_has_is_named,
            rows_that_are_not_understood_are_named,
            rows_that_belong_to_nothing_are_named,
            many_findings_are_told_in_few,
            a_session_without_a_directory_is_sound,
        });
        $crate::stamp_promises!($engine, session_moves: {
            w250_a_move_writes_one_row,
            w251_a_move_to_where_it_is_writes_nothing,
            w252_the_session_is_looked_at_before_its_anchor,
            w253_s219_a_move_stays_on_one_account,
            s226_of_a_thousand_sessions_one_row_is_written,
            a_wedged_account_is_spread_anew,
            neighbours_and_anchors_of_others_do_not_exist,
            a_row_that_is_not_understood_is_not_moved,
            a_place_is_given_up_with_the_account,
        });
        $crate::stamp_promises!($engine, session_removal: {
            w225_n009_kept_sessions_are_in_no_workspace,
            w226_s224_n010_deleted_sessions_leave_nothing,
            w227_s225_live_sessions_keep_their_workspace,
            w228_ten_live_sessions_are_named,
            a_state_that_is_not_understood_counts_as_live,
            w337_live_sessions_are_ungrouped_when_that_is_asked_for,
            s382_a_live_session_and_one_that_is_over_are_both_ungrouped,
            w236_a_workspace_with_live_sessions_is_not_pruned,
            w293_a_removal_of_ten_thousand_sessions_is_done_or_not,
            a_failed_removal_leaves_every_session,
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
        $crate::stamp_promises!($engine, session_filters: {
            s242_a_place_holds_its_own,
            s247_s248_agents_are_any_of_and_exact,
            s249_states_are_any_of,
            s250_filters_are_joined_by_and,
            s251_s252_a_tree_holds_its_root,
            s253_s254_s255_labels_are_exact_pairs,
            s256_origin_and_profile_are_exact,
            s258_an_archive_is_left_out_taken_alone_or_taken_too,
            s259_s260_s261_s262_spans_hold_their_beginning_only,
            s376_runtimes_are_any_of,
            s379_time_stands_still_in_a_walk,
        });
        $crate::stamp_promises!($engine, session_list: {
            s228_an_empty_catalog_has_an_empty_page,
            s063_internal_sessions_are_on_no_page_and_in_no_total,
            s229_s231_s232_a_page_ends_where_the_rows_do,
            s233_a_walk_meets_every_session_once,
            s234_s235_ties_are_broken_by_creation_and_then_by_id,
            s238_s327_looking_writes_nothing,
            s381_a_caller_sees_the_sessions_of_its_workspaces,
            sessions_above_an_id_are_those_that_the_watcher_sees,
            w295_a_session_that_is_not_understood_is_listed,
        });
        $crate::stamp_promises!($engine, session_list_carried: {
            s377_s378_a_total_is_carried_until_something_changes,
            s321_s322_totals_are_told_by_state_and_workspace,
            s324_totals_are_exact_straight_after_every_answer,
        });
        $crate::stamp_promises!($engine, session_query: {
            s266_s267_s268_s269_a_query_is_literal,
            s270_to_s276_case_and_width_do_not_count,
            s277_s278_queries_of_every_length_are_exact,
            s279_s280_a_query_looks_at_names_and_ids_only,
            s282_a_query_follows_a_rename_and_a_removal,
            s283_a_query_is_joined_with_the_other_filters,
            s284_a_walk_of_a_query_meets_every_match_once,
            s221_s380_a_renamed_workspace_is_found_at_once,
            s285_names_of_ten_scripts_are_found_as_folded_texts_are,
        });
        $crate::stamp_promises!($engine, session_sorts: {
            s286_a_rename_moves_to_the_front,
            s288_s289_last_activity_falls_back_to_creation,
            s290_s291_who_needs_somebody_comes_first,
            the_manual_order_is_that_of_the_account,
            s287_a_walk_by_activity_does_not_return_to_a_busy_session,
        });
        $crate::stamp_promises!($engine, session_walks: {
            s310_the_last_row_of_a_page_is_deleted,
            s311_all_rows_of_a_page_are_deleted,
            s312_s313_s314_s315_a_row_that_moves_is_not_met_twice,
            s316_a_walk_meets_every_untouched_row_once,
            s317_a_seen_row_is_moved_to_the_end,
            s318_s319_a_page_is_one_snapshot,
        });
        $crate::stamp_promises!($engine, session_list_plans: {
            s240_a_page_deep_in_a_list_is_read_as_the_first_one,
        });
        $crate::stamp_promises!($engine, session_list_model: {
            s265_s323_random_filters_hold_what_they_say,
            s293_every_walk_is_the_sorted_model,
            s257_badges_and_rules_of_filters_are_those_of_the_rows,
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
        $crate::stamp_promises!($engine, session_query_reopened: {
            names_of_workspaces_are_folded_when_the_catalog_is_opened,
        });
        $crate::stamp_promises!($engine, session_restarts: {
            s132_s133_a_restart_gives_lapsed_leases_one_ttl_more,
            s134_after_that_ttl_it_is_given_up,
            s135_s138_a_restart_leaves_sessions_as_they_are,
        });
        $crate::stamp_promises!($engine, reopened: {
            w202_w218_every_order_is_the_same_after_a_restart,
            w289_a_failed_move_leaves_the_order_after_a_restart,
            a_catalog_keeps_its_identity,
            the_log_goes_on_where_it_stood,
            answers_and_intents_outlive_the_process,
            profiles_and_selections_outlive_the_process,
        });
        $crate::stamp_promises!($engine, session_create_reopened: {
            sessions_and_their_transitions_outlive_the_process,
            the_answer_to_a_creation_outlives_the_process,
            a_clock_that_was_set_back_at_a_restart_stands_still,
        });
        $crate::stamp_promises!($engine, session_reopened: {
            w250_an_account_has_the_same_order_after_a_restart,
            w295_a_session_of_a_missing_workspace_is_served_after_a_restart,
        });
    };
}

/// Stamps what an engine promises that several processes can have open.
#[macro_export]
macro_rules! conformance_of_shared {
    ($engine:path) => {
        $crate::stamp_promises!($engine, session_create_shared: {
            of_two_processes_that_take_one_id_one_gets_it,
            a_creation_is_carried_out_once_by_all_processes,
            two_processes_fold_every_delta_once,
            instants_are_those_of_the_server,
        });
        $crate::stamp_promises!($engine, session_replicas: {
            s072_of_16_who_bind_by_each_of_two_processes_one_gets_the_lease,
            two_processes_that_sweep_at_once_give_each_session_up_once,
            s368_a_restart_beside_others_grants_nothing,
            s369_the_clock_of_the_database_counts_and_no_other,
            s320_a_page_of_one_process_holds_what_another_one_has_answered,
        });
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
