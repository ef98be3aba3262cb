#include "CDTCPage.h"

// #embed is of C23, and Clang has it in every version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The compiler reads the files and compiles them again when they have changed; see decision 32.

static const unsigned char api_js[] = {
#embed "../CDTServer/Page/api.js"
};

static const unsigned char arrays_js[] = {
#embed "../CDTServer/Page/arrays.js"
};

static const unsigned char attachments_js[] = {
#embed "../CDTServer/Page/attachments.js"
};

static const unsigned char browse_js[] = {
#embed "../CDTServer/Page/browse.js"
};

static const unsigned char bulk_js[] = {
#embed "../CDTServer/Page/bulk.js"
};

static const unsigned char changes_js[] = {
#embed "../CDTServer/Page/changes.js"
};

static const unsigned char conditions_js[] = {
#embed "../CDTServer/Page/conditions.js"
};

static const unsigned char conflicts_js[] = {
#embed "../CDTServer/Page/conflicts.js"
};

static const unsigned char copies_js[] = {
#embed "../CDTServer/Page/copies.js"
};

static const unsigned char distribution_js[] = {
#embed "../CDTServer/Page/distribution.js"
};

static const unsigned char document_js[] = {
#embed "../CDTServer/Page/document.js"
};

static const unsigned char documents_js[] = {
#embed "../CDTServer/Page/documents.js"
};

static const unsigned char dom_js[] = {
#embed "../CDTServer/Page/dom.js"
};

static const unsigned char editor_js[] = {
#embed "../CDTServer/Page/editor.js"
};

static const unsigned char filter_js[] = {
#embed "../CDTServer/Page/filter.js"
};

static const unsigned char grid_js[] = {
#embed "../CDTServer/Page/grid.js"
};

static const unsigned char groups_js[] = {
#embed "../CDTServer/Page/groups.js"
};

static const unsigned char history_js[] = {
#embed "../CDTServer/Page/history.js"
};

static const unsigned char icon_svg[] = {
#embed "../CDTServer/Page/icon.svg"
};

static const unsigned char icons_svg[] = {
#embed "../CDTServer/Page/icons.svg"
};

static const unsigned char import_js[] = {
#embed "../CDTServer/Page/import.js"
};

static const unsigned char index_html[] = {
#embed "../CDTServer/Page/index.html"
};

static const unsigned char indexes_js[] = {
#embed "../CDTServer/Page/indexes.js"
};

static const unsigned char json_js[] = {
#embed "../CDTServer/Page/json.js"
};

static const unsigned char jsonview_js[] = {
#embed "../CDTServer/Page/jsonview.js"
};

static const unsigned char keys_js[] = {
#embed "../CDTServer/Page/keys.js"
};

static const unsigned char menus_js[] = {
#embed "../CDTServer/Page/menus.js"
};

static const unsigned char merge_js[] = {
#embed "../CDTServer/Page/merge.js"
};

static const unsigned char names_js[] = {
#embed "../CDTServer/Page/names.js"
};

static const unsigned char page_css[] = {
#embed "../CDTServer/Page/page.css"
};

static const unsigned char page_js[] = {
#embed "../CDTServer/Page/page.js"
};

static const unsigned char plan_js[] = {
#embed "../CDTServer/Page/plan.js"
};

static const unsigned char rail_js[] = {
#embed "../CDTServer/Page/rail.js"
};

static const unsigned char relaxed_js[] = {
#embed "../CDTServer/Page/relaxed.js"
};

static const unsigned char replications_js[] = {
#embed "../CDTServer/Page/replications.js"
};

static const unsigned char request_js[] = {
#embed "../CDTServer/Page/request.js"
};

static const unsigned char results_js[] = {
#embed "../CDTServer/Page/results.js"
};

static const unsigned char revisions_js[] = {
#embed "../CDTServer/Page/revisions.js"
};

static const unsigned char router_js[] = {
#embed "../CDTServer/Page/router.js"
};

static const unsigned char rules_js[] = {
#embed "../CDTServer/Page/rules.js"
};

static const unsigned char running_js[] = {
#embed "../CDTServer/Page/running.js"
};

static const unsigned char schema_js[] = {
#embed "../CDTServer/Page/schema.js"
};

static const unsigned char stores_js[] = {
#embed "../CDTServer/Page/stores.js"
};

static const unsigned char times_js[] = {
#embed "../CDTServer/Page/times.js"
};

static const unsigned char updates_js[] = {
#embed "../CDTServer/Page/updates.js"
};

static const struct cdt_page_file files[] = {
    {"api.js", api_js, sizeof api_js},
    {"arrays.js", arrays_js, sizeof arrays_js},
    {"attachments.js", attachments_js, sizeof attachments_js},
    {"browse.js", browse_js, sizeof browse_js},
    {"bulk.js", bulk_js, sizeof bulk_js},
    {"changes.js", changes_js, sizeof changes_js},
    {"conditions.js", conditions_js, sizeof conditions_js},
    {"conflicts.js", conflicts_js, sizeof conflicts_js},
    {"copies.js", copies_js, sizeof copies_js},
    {"distribution.js", distribution_js, sizeof distribution_js},
    {"document.js", document_js, sizeof document_js},
    {"documents.js", documents_js, sizeof documents_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"editor.js", editor_js, sizeof editor_js},
    {"filter.js", filter_js, sizeof filter_js},
    {"grid.js", grid_js, sizeof grid_js},
    {"groups.js", groups_js, sizeof groups_js},
    {"history.js", history_js, sizeof history_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"icons.svg", icons_svg, sizeof icons_svg},
    {"import.js", import_js, sizeof import_js},
    {"index.html", index_html, sizeof index_html},
    {"indexes.js", indexes_js, sizeof indexes_js},
    {"json.js", json_js, sizeof json_js},
    {"jsonview.js", jsonview_js, sizeof jsonview_js},
    {"keys.js", keys_js, sizeof keys_js},
    {"menus.js", menus_js, sizeof menus_js},
    {"merge.js", merge_js, sizeof merge_js},
    {"names.js", names_js, sizeof names_js},
    {"page.css", page_css, sizeof page_css},
    {"page.js", page_js, sizeof page_js},
    {"plan.js", plan_js, sizeof plan_js},
    {"rail.js", rail_js, sizeof rail_js},
    {"relaxed.js", relaxed_js, sizeof relaxed_js},
    {"replications.js", replications_js, sizeof replications_js},
    {"request.js", request_js, sizeof request_js},
    {"results.js", results_js, sizeof results_js},
    {"revisions.js", revisions_js, sizeof revisions_js},
    {"router.js", router_js, sizeof router_js},
    {"rules.js", rules_js, sizeof rules_js},
    {"running.js", running_js, sizeof running_js},
    {"schema.js", schema_js, sizeof schema_js},
    {"stores.js", stores_js, sizeof stores_js},
    {"times.js", times_js, sizeof times_js},
    {"updates.js", updates_js, sizeof updates_js},
};

size_t cdt_page_file_count(void) { return sizeof files / sizeof files[0]; }

struct cdt_page_file cdt_page_file(size_t position) { return files[position]; }
