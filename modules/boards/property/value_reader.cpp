// One value of a property, by the rules of its type.

#include "modules/boards/property/value_reader.hpp"

namespace svc::boards {

namespace {

constexpr std::size_t most_options = 100;  // of a property

template <class T>
json::value written(const T& value) {
    std::string text;
    Json<T>::write(value, text);
    return json::parse(text);
}

/// What the kernel makes of a value of this type.
template <class T>
T taken(Reader& reader, const json::value& in, const Rules& rules = {}) {
    T value{};
    Json<T>::read(reader, rules, in, value);
    return value;
}

bool is_empty(const json::value& value) {
    return value.is_null() || (value.is_array() && value.as_array().empty());
}

}  // namespace

std::string trimmed_word(std::string_view text) {
    const auto from = text.find_first_not_of(" \t\r\n");
    if (from == text.npos) return {};
    return std::string(text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1));
}

ValueReader::ValueReader(
    Reader& reader,
    const Known& known,
    const PropertyDefinition& property,
    const json::value& present
)
    : reader_(reader),
      known_(known),
      property_(property),
      present_(present),
      options_(property.options.parsed()) {}

PropertyDefinition ValueReader::property() const {
    PropertyDefinition grown = property_;
    if (!new_options_.empty()) grown.options = AsJson(options_);
    return grown;
}

json::value ValueReader::refuse(const json::value& in, std::string_view message) {
    reader_.reject("value_error", message, &in);
    return nullptr;
}

json::value ValueReader::refuse_person(const json::value& in) {
    return refuse(in, "there is no such person or agent in the workspace");
}

json::value ValueReader::refuse_card(const json::value& in) {
    return refuse(in, "there is no such card");
}

std::optional<json::value> ValueReader::read(const json::value& in) {
    const std::string type(name_of(property_.type));
    const json::object* whole = in.if_object();
    json::value held;
    if (whole && whole->contains(type)) {
        for (const auto& [key, value] : *whole) {
            const bool says_type = key == "type" && value == json::value(type);
            if (key == type || key == "id" || says_type) continue;
            auto step = reader_.at(std::string_view(key));
            reader_.reject("extra_forbidden", "There is no such field", &value);
        }
        auto step = reader_.at(type);
        held = read_bare(whole->at(type));
    } else {
        held = read_bare(in);
    }
    if (is_empty(held)) return std::nullopt;
    return json::object{{"id", property_.id.str()}, {"type", type}, {type, std::move(held)}};
}

json::value ValueReader::read_bare(const json::value& in) {
    if (is_computed(property_.type))
        return refuse(in, "nobody sets this: it follows from the card");
    if (in.is_null()) return nullptr;
    switch (property_.type) {
        case PropertyType::rich_text: return rich_text(in);
        case PropertyType::number: return written(taken<double>(reader_, in));
        case PropertyType::checkbox: return taken<bool>(reader_, in);
        case PropertyType::date: return date(in);
        case PropertyType::url: return written(taken<Url>(reader_, in));
        case PropertyType::email: return written(taken<Email>(reader_, in));
        case PropertyType::phone_number: return text(in);
        case PropertyType::select:
        case PropertyType::status: return option(in);
        case PropertyType::multi_select: return list(in, &ValueReader::option);
        case PropertyType::people: return list(in, &ValueReader::person);
        case PropertyType::relation: return list(in, &ValueReader::card);
        case PropertyType::files:
            if (known_.keeps_files || present_.is_object()) return list(in, &ValueReader::file);
            if (in.is_array() && in.as_array().empty()) return nullptr;
            [[fallthrough]];
        default: return refuse(in, "this server keeps no files");
    }
}

// ------------------------------------------------------------------------------ single values

json::value ValueReader::text(const json::value& in) {
    Rules rules;
    rules.shortest = 1;
    rules.longest = 64;
    rules.trimmed = true;
    return written(taken<std::string>(reader_, in, rules));
}

json::value ValueReader::date(const json::value& in) {
    DateValue value;
    if (in.is_string()) value.start = taken<Moment>(reader_, in);
    else reader_.read(record_of<DateValue>(), in, &value);
    if (value.end && *value.end < value.start) return refuse(in, "it would end before it starts");
    return written(value);
}

json::value ValueReader::rich_text(const json::value& in) {
    if (!in.is_string()) return list(in, &ValueReader::rich_text_item);
    if (in.as_string().empty()) return nullptr;
    return json::array{rich_text_item(json::object{{"text", {{"content", in}}}})};
}

json::value ValueReader::rich_text_item(const json::value& in) {
    RichText item;
    reader_.read(record_of<RichText>(), in, &item);
    normalize(reader_, item);
    const ReferenceNames& names = mentionable();
    References references;
    rich_text::collect_references({item}, references);
    for (const Uuid& each : references.users)
        if (!names.users.contains(each)) return refuse_person(in);
    for (const Uuid& each : references.pages)
        if (!names.pages.contains(each)) return refuse_card(in);
    resolve(item, names);
    return written(item);
}

const ReferenceNames& ValueReader::mentionable() {
    if (mentionable_) return *mentionable_;
    ReferenceNames& names = mentionable_.emplace();
    for (const auto& [key, thing] : known_.things) {
        if (thing.sort == NamedSort::person)
            names.users.emplace(thing.id, thing.name.value_or("somebody"));
        if (thing.sort == NamedSort::card) names.pages.emplace(thing.id, thing.key.value_or(""));
    }
    // Whoever is mentioned there already may stay, under the name that stands there.
    if (present_.is_object()) keep_names(present_.at(name_of(property_.type)), names);
    return names;
}

// ------------------------------------------------------------------------------------- options

json::value ValueReader::option(const json::value& in) {
    const json::object* whole = in.if_object();
    const json::value* id = whole ? whole->if_contains("id") : nullptr;
    const json::value* name = whole ? whole->if_contains("name") : nullptr;
    const json::value* word = id ? id : name ? name : &in;
    const std::string text = word->is_string() ? trimmed_word(word->as_string()) : std::string();
    if (text.empty()) return refuse(in, "an option is named by its id or its name");
    const auto wanted = Uuid::parse(text);
    if (!wanted && !id) return option_of_name(in, text);
    const auto found = std::ranges::find_if(options_, [&](const PropertyOption& each) {
        return each.id == wanted;
    });
    if (found == options_.end()) return refuse(in, "the property has no such option");
    return written(*found);
}

json::value ValueReader::option_of_name(const json::value& in, const std::string& name) {
    Rules rules;
    rules.longest = 100;
    taken<std::string>(reader_, json::string(name), rules);
    const auto word = known_.words.find({property_.id, name});
    if (word == known_.words.end())
        return refuse(in, "the name of an option has at most 100 characters");
    const OptionWord& known = word->second;
    if (known.id) {
        const auto found = std::ranges::find(options_, *known.id, &PropertyOption::id);
        if (found != options_.end()) return written(*found);
    }
    const auto made = new_options_.find(known.folded);
    if (made != new_options_.end())
        return written(*std::ranges::find(options_, made->second, &PropertyOption::id));
    if (options_.size() >= most_options)
        return refuse(in, "a property has at most 100 options, and this would be another");
    const PropertyOption& added =
        options_.emplace_back(PropertyOption{new_uuid(), name, Color::default_});
    new_options_.emplace(known.folded, added.id);
    return written(added);
}

// --------------------------------------------------------------------------------------- lists

json::value ValueReader::list(
    const json::value& in, json::value (ValueReader::*item)(const json::value&)
) {
    const json::array* given = in.if_array();
    if (!given) {
        reader_.reject("list_type", "Should be an array", &in);
        return nullptr;
    }
    if (const auto most = longest_list(property_.type); given->size() > most) {
        const std::string count = std::to_string(most);
        reader_.reject("too_long", "Should have at most " + count + " items", &in);
        return nullptr;
    }
    json::array out;
    for (std::size_t i = 0; i < given->size(); ++i) {
        auto step = reader_.at(i);
        json::value value = (this->*item)((*given)[i]);
        const bool prose = property_.type == PropertyType::rich_text;
        if (prose || std::ranges::find(out, value) == out.end()) out.push_back(std::move(value));
    }
    return out;
}

std::optional<Uuid> ValueReader::id_in(const json::value& in) {
    const json::object* whole = in.if_object();
    const json::value* id = whole ? whole->if_contains(id_member(property_.type)) : &in;
    const auto parsed = id && id->is_string() ? Uuid::parse(id->as_string()) : std::nullopt;
    if (!parsed) reader_.reject("uuid_parsing", "Should be a UUID", &in);
    return parsed;
}

const json::value* ValueReader::present_item(const Uuid& id) const {
    if (!present_.is_object()) return nullptr;
    const std::string text = id.str();
    for (const json::value& each : present_.at(name_of(property_.type)).as_array())
        if (each.at(id_member(property_.type)) == json::value(text)) return &each;
    return nullptr;
}

json::value ValueReader::person(const json::value& in) {
    const auto id = id_in(in);
    if (!id) return nullptr;
    const auto found = known_.things.find({NamedSort::person, *id});
    if (found != known_.things.end()) {
        const NamedThing& who = found->second;
        return written(PrincipalRef{{}, who.id, *who.principal_type, who.name});
    }
    if (const json::value* stays = present_item(*id)) return *stays;
    return refuse_person(in);
}

std::optional<Uuid> ValueReader::card_in(const json::value& in) {
    const json::object* whole = in.if_object();
    const json::value* named = whole ? whole->if_contains("id") : &in;
    const auto ref =
        named && named->is_string() ? CardRef::parse(named->as_string()) : std::nullopt;
    if (!ref || ref->id) return id_in(in);
    const std::string key = ref->str();
    for (const auto& [sort_and_id, thing] : known_.things)
        if (thing.sort == NamedSort::card && thing.key == key) return thing.id;
    refuse_card(in);
    return std::nullopt;
}

json::value ValueReader::card(const json::value& in) {
    const auto id = card_in(in);
    if (!id) return nullptr;
    if (!known_.things.contains({NamedSort::card, *id}) && !present_item(*id))
        return refuse_card(in);
    return json::object{{"id", id->str()}};
}

json::value ValueReader::file(const json::value& in) {
    const auto id = id_in(in);
    if (!id) return nullptr;
    if (const json::value* stays = present_item(*id)) return *stays;
    const auto found = known_.things.find({NamedSort::file, *id});
    if (found == known_.things.end()) return refuse(in, "you may hang no such file on a card");
    return json::object{{"file_id", id->str()}, {"name", *found->second.name}, {"url", nullptr}};
}

}  // namespace svc::boards
