//! What a browser sees at a hostname of a lease: that it is simulated.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::core::Page;
use crate::driver::SimDriver;

/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn serve(stream: TcpStream, driver: SimDriver) {
    let service = service_fn(move |request| {
        let driver = driver.clone();
        async move { Ok::<_, Infallible>(respond(&request, &driver).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    // Whatever a client does wrong ends its connection and nothing else.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: &Request<Incoming>, driver: &SimDriver) -> Response<Full<Bytes>> {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    let (status, text) = match driver.page(host.clone()).await {
        Ok(Some(page)) if page.ready > 0 => (StatusCode::OK, describe(&page)),
        Ok(Some(page)) => {
            let text = format!("{}\nNo replica is ready yet.\n", describe(&page));
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
        Ok(None) => {
            let text = "SIMULATED cluster: no lease has this hostname.\n\
                        Ask with the hostname of a lease, such as\n  \
                        curl -H 'Host: HOSTNAME' http://ADDRESS/\n";
            (StatusCode::NOT_FOUND, text.to_owned())
        }
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, plain);
    headers.insert("x-simulated", HeaderValue::from_static("true"));
    response
}

fn describe(page: &Page) -> String {
    let Page { lease, service, image, ready } = page;
    let image = image.escape_debug();
    format!(
        "This is a SIMULATED workload. Nothing runs here.\n\n  \
         lease    {lease}\n  service  {service}\n  image    {image} (not pulled)\n  \
         ready    {ready}\n"
    )
}
