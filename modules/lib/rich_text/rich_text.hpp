#pragma once

#include "svc/kernel.hpp"
#include "svc/moment.hpp"

/// Text with marks, links and mentions (contract 1.2, 6.20).
namespace svc::rich_text {

enum class TextColor {
    default_,
    gray,
    brown,
    orange,
    yellow,
    green,
    blue,
    purple,
    pink,
    red,
    default_background,
    gray_background,
    brown_background,
    orange_background,
    yellow_background,
    green_background,
    blue_background,
    purple_background,
    pink_background,
    red_background,
};
BOOST_DESCRIBE_ENUM(
    TextColor,
    default_,
    gray,
    brown,
    orange,
    yellow,
    green,
    blue,
    purple,
    pink,
    red,
    default_background,
    gray_background,
    brown_background,
    orange_background,
    yellow_background,
    green_background,
    blue_background,
    purple_background,
    pink_background,
    red_background
)

/// Where a link may lead: http, https or mailto, at most 2000 bytes.
struct link_format {
    static constexpr std::string_view name = "uri", error = "url_parsing";
    static bool accept(std::string& text);
};
using LinkUrl = Text<link_format>;

struct TextLink {
    LinkUrl url;
    bool operator==(const TextLink&) const = default;
};
SVC_SHARED_RECORD(TextLink, (url, "An http, https or mailto address."));

struct TextContent {
    std::string content;
    std::optional<TextLink> link;
    bool operator==(const TextContent&) const = default;
};
SVC_SHARED_RECORD(
    TextContent,
    (content, "The text itself.", length(0, 2000)),
    (link, "Where it leads; null when nowhere.")
);

struct InlineEquation {
    std::string expression;
    bool operator==(const InlineEquation&) const = default;
};
SVC_SHARED_RECORD(InlineEquation, (expression, "In KaTeX's notation.", length(1, 1000)));

struct MentionedUser {
    Object<"user"> object;
    Uuid id;
    std::optional<JsonText> type, name, avatar_url, person, bot, principal_type;
    bool operator==(const MentionedUser&) const = default;
};
SVC_SHARED_RECORD(
    MentionedUser,
    (object),
    (id, "Id of a person or an agent of the workspace."),
    (type, "As answers show it; ignored.", read_only, omit_empty),
    (name, "As answers show it; ignored.", read_only, omit_empty),
    (avatar_url, "As answers show it; ignored.", read_only, omit_empty),
    (person, "As answers show it; ignored.", read_only, omit_empty),
    (bot, "As answers show it; ignored.", read_only, omit_empty),
    (principal_type, "As answers show it; ignored.", read_only, omit_empty)
);

/// A day, an instant or a span of time.
struct DateValue {
    Moment start;
    std::optional<Moment> end;
    std::optional<std::string> time_zone;
    bool operator==(const DateValue&) const = default;
};
SVC_SHARED_RECORD(
    DateValue,
    (start, "A day or an instant."),
    (end, "The end of a span of time."),
    (time_zone, "By its IANA name.", length(1, 64), matches("[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*"))
);

struct MentionedPage {
    Uuid id;
    bool operator==(const MentionedPage&) const = default;
};
SVC_SHARED_RECORD(MentionedPage, (id, "The card's id."));

enum class MentionType { user, date, page };
BOOST_DESCRIBE_ENUM(MentionType, user, date, page)

struct Mention {
    std::optional<MentionType> type;
    std::optional<MentionedUser> user;
    std::optional<DateValue> date;
    std::optional<MentionedPage> page;
    bool operator==(const Mention&) const = default;
};
SVC_SHARED_RECORD(
    Mention,
    (type, "Which of the following it is; may be left out.", omit_empty),
    (user, "A person or an agent.", omit_empty),
    (date, "A day, an instant or a span.", omit_empty),
    (page, "A card.", omit_empty)
);

struct Annotations {
    bool bold = false, italic = false, strikethrough = false, underline = false, code = false;
    TextColor color{};
    bool operator==(const Annotations&) const = default;
};
SVC_SHARED_RECORD(
    Annotations,
    (bold, "Bold.", defaulted),
    (italic, "Italic.", defaulted),
    (strikethrough, "Struck out.", defaulted),
    (underline, "Underlined.", defaulted),
    (code, "Code.", defaulted),
    (color, "Its color, or that of its background.", defaulted)
);

enum class RichTextType { text, mention, equation };
BOOST_DESCRIBE_ENUM(RichTextType, text, mention, equation)

struct RichText {
    std::optional<RichTextType> type;
    std::optional<TextContent> text;
    std::optional<Mention> mention;
    std::optional<InlineEquation> equation;
    Annotations annotations;
    std::string plain_text;
    std::optional<std::string> href;
    bool operator==(const RichText&) const = default;
};
SVC_SHARED_RECORD(
    RichText,
    (type, "Which of the following it is; may be left out.", omit_empty),
    (text, "Plain text, perhaps a link.", omit_empty),
    (mention, "Somebody or something that is mentioned.", omit_empty),
    (equation, "A formula within the line.", omit_empty),
    (annotations, "Formatting of the text.", defaulted),
    (plain_text, "The text without formatting; computed by the server.", read_only),
    (href, "Where it leads; worked out by the server.", read_only)
);
using RichTexts = std::vector<RichText>;

/// At most so many items in one list.
inline constexpr std::size_t most_items = 100;

/// What stands in a text for somebody or something that it names.
struct ReferenceNames {
    std::map<Uuid, std::string> users;  ///< people and agents of the workspace
    std::map<Uuid, std::string> pages;  ///< cards that the writer may see: their keys
    std::map<Uuid, std::string> files;  ///< uploads that the writer may show: what they are called
};
/// Who and what a text names, by id.
struct References {
    std::vector<Uuid> users, pages, files;
    bool any() const { return !users.empty() || !pages.empty() || !files.empty(); }
    void add(const References& more);
};

/// Fills in the types that were left out; problems are recorded at the reader's present place.
void normalize(Reader& reader, RichText& item);
void normalize(Reader& reader, RichTexts& texts);
/// Fills in what is worked out: plain_text and href.
void resolve(RichText& item, const ReferenceNames& names);
void resolve(RichTexts& texts, const ReferenceNames& names);
/// Who and what is named.
void collect_references(const RichTexts& texts, References& into);
/// Who and what is mentioned anywhere within what was stored, under the name that stands there.
void keep_names(const json::value& stored, ReferenceNames& into);

std::string plain_text_of(const RichTexts& texts);
/// One item of plain text.
RichText text_item(std::string content, const Annotations& annotations = {});

}  // namespace svc::rich_text
