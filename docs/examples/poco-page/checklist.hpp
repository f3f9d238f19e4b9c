#pragma once

#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>

/// A page that turns lines of text into a Markdown checklist, to be pasted into a card. Nothing in
/// it knows the server it runs in.
namespace svc::poco_page {

/// GET shows the form, with the title that the query names; POST shows the checklist too. A form
/// that cannot be read is a 400.
class ChecklistPage final : public Poco::Net::HTTPRequestHandler {
public:
    void handleRequest(
        Poco::Net::HTTPServerRequest& request, Poco::Net::HTTPServerResponse& response
    ) override;
};

class ChecklistPages final : public Poco::Net::HTTPRequestHandlerFactory {
public:
    Poco::Net::HTTPRequestHandler* createRequestHandler(const Poco::Net::HTTPServerRequest&)
        override;
};

}  // namespace svc::poco_page
