#include "plugins/store-local/upload.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <Poco/Logger.h>

#include <system_error>

namespace svc::store_local {

namespace {

std::string decoded(const std::string& text) {
    if (auto out = from_base64(text, Base64::padded)) return *std::move(out);
    throw Failure(Fault::invalid, "The form's policy is not base64.");
}

[[noreturn]] void incomplete(const std::string& what) {
    throw Failure(Fault::invalid, "The form is not complete: " + what);
}

/// The disk is full, or worse. What is there already can still be downloaded.
[[noreturn]] void cannot_keep(const std::system_error& problem) {
    Poco::Logger::get("files").error(std::string("an upload was refused: ") + problem.what());
    throw Failure(Fault::unavailable, "The server cannot keep files now; try again later.")
        .with_header("Retry-After", "60");
}

}  // namespace

Upload::Upload(Store& store, const std::string& boundary) : store_(store), form_(boundary, *this) {}

Upload::~Upload() {
    if (counted_) store_.uploads().fetch_sub(1);
}

/// Whoever has no right to upload takes nobody's place.
void Upload::take_a_place() {
    counted_ = true;
    if (store_.uploads().fetch_add(1) < store_.most_uploads()) return;
    throw Failure(Fault::unavailable, "As many uploads as the server takes are coming in.")
        .with_header("Retry-After", "2");
}

void Upload::take(std::string_view bytes) try {
    form_.take(bytes);
} catch (const std::system_error& problem) {
    cannot_keep(problem);
}

void Upload::field(std::string name, std::string value) {
    if (!fields_.emplace(name, std::move(value)).second)
        throw Failure(Fault::invalid, "The form has the field " + name + " twice.");
}

void Upload::file_begins() {
    const std::string policy = fields_["policy"];
    if (!same_secret(fields_["signature"], store_.signature_of(policy)))
        throw Failure(Fault::restricted, "The form is not signed by this server.");
    policy_ = Policy::parse(decoded(policy));
    policy_->check(fields_, Timestamp::now());
    if (!is_key(fields_["key"])) throw Failure(Fault::restricted, "The form's key is none.");
    take_a_place();
    file_ = store_.objects().begin();
}

void Upload::file_bytes(std::string_view bytes) {
    if (file_->size() + bytes.size() > static_cast<std::uint64_t>(policy_->most()))
        throw Failure(
            Fault::too_large,
            "The file may have " + std::to_string(policy_->most()) + " bytes at most."
        );
    file_->write(bytes);
}

void Upload::finish() try {
    if (!file_) incomplete("it has no file.");
    if (!ended_) incomplete("it breaks off within the file.");
    if (file_->size() < static_cast<std::uint64_t>(policy_->least()))
        throw Failure(
            Fault::invalid,
            "The file has to have " + std::to_string(policy_->least()) + " bytes at least."
        );
    store_.objects().publish(*file_, fields_["key"]);
} catch (const std::system_error& problem) {
    cannot_keep(problem);
}

}  // namespace svc::store_local
