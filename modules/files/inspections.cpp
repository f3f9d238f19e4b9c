#include "modules/files/inspections.hpp"

#include "modules/files/lib/sniff.hpp"

#include <Poco/Logger.h>

namespace svc::files {

namespace {

constexpr std::size_t most_waiting = 256;
// Whoever asked has given up by then.
constexpr std::chrono::seconds kept{120};
// A store that failed one of those who wait for the same is not asked by each of them.
constexpr std::chrono::seconds kept_when_failed{1};

std::optional<std::string> fault_of(const Expected& what, const Contents& contents) {
    if (contents.size < 1) return "it is empty";
    if (contents.size > what.most_bytes) return "it is larger than declared";
    return mismatch(what.content_type, contents.beginning);
}

}  // namespace

void Inspections::start() {
    for (std::int64_t i = 0; i < service_.settings().checks_at_once; ++i)
        threads_.emplace_back([this] { run(); });
}

void Inspections::stop() noexcept {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    found_.notify_all();
    for (auto& each : threads_) each.join();
    threads_.clear();
}

/// Others who ask at the same time are told the same, unless what was found has been undone: then
/// it is looked for again. Under the lock.
std::optional<Finding> Inspections::take(const Uuid& file) {
    using Kind = Finding::Kind;
    const auto place = cases_.find(file);
    if (place == cases_.end() || !place->second.finding) return std::nullopt;
    auto finding = place->second.finding;
    if (finding->kind == Kind::missing || finding->kind == Kind::wrong) cases_.erase(place);
    return finding;
}

void Inspections::forget_old() {
    const auto now = Clock::now();
    std::erase_if(cases_, [&](const auto& each) {
        const auto& [finding, since] = each.second;
        if (!finding) return false;
        return now > since + (finding->kind == Finding::Kind::failed ? kept_when_failed : kept);
    });
}

std::optional<Finding> Inspections::ask(const Expected& what) {
    std::lock_guard lock(mutex_);
    forget_old();
    if (cases_.contains(what.file)) return take(what.file);
    if (waiting_.size() >= most_waiting)
        throw Failure(Fault::unavailable, "Too many uploads are being checked; try again.")
            .with_header("Retry-After", "1");
    cases_[what.file];
    waiting_.push_back(what);
    wake_.notify_one();
    return std::nullopt;
}

std::optional<Finding> Inspections::stay(const Expected& what, std::chrono::seconds at_most) {
    if (auto finding = ask(what)) return finding;
    std::unique_lock lock(mutex_);
    const auto known = [&] {
        const auto place = cases_.find(what.file);
        return stopping_ || place == cases_.end() || place->second.finding;
    };
    found_.wait_for(lock, at_most, known);
    return take(what.file);
}

void Inspections::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        const Expected what = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        Finding finding = inspect(what);
        lock.lock();
        cases_[what.file] = {std::move(finding)};
        found_.notify_all();
        service_.kernel().wake(topic_of(what.file));
    }
}

/// Forms reach only where the bytes came in. So they are first taken to a place of their own, which
/// nobody else knows, and what was looked at there is what is kept.
Finding Inspections::inspect(const Expected& what) const try {
    ObjectStore& store = service_.store();
    const Uuid object = new_uuid();
    const auto contents =
        store.take(incoming_key(what.org, what.file), object_key(what.org, what.file, object));
    if (!contents) return {.kind = Finding::Kind::missing};
    if (auto fault = fault_of(what, *contents)) {
        store.clear(prefix_of(what.org, what.file), std::nullopt);
        return {.kind = Finding::Kind::wrong, .why = *std::move(fault)};
    }
    return {.kind = Finding::Kind::right, .object = object, .contents = *contents};
} catch (const std::exception& problem) {
    Poco::Logger::get("files").warning(
        "upload " + what.file.str() + " could not be looked at: " + problem.what()
    );
    return {};
}

}  // namespace svc::files
