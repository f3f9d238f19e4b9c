import hashlib, hmac, re, time


def is_ours(secret: str, header: str, body: bytes) -> bool:
    parts = [part.partition("=") for part in header.split(",")]
    sent = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > 300:
        return False
    wanted = hmac.new(secret.encode(), sent.encode() + b"." + body, hashlib.sha256).hexdigest()
    given = [value.encode(errors="replace") for name, _, value in parts if name == "v1"]
    return any(hmac.compare_digest(each, wanted.encode()) for each in given)
