//! Several services at one place: which one a call is for.
//!
//! A call's path is `/service/method`, and each generated server says which service it is. Must not
//! know how calls arrive, nor who may make them.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
type Serve = Arc<dyn Fn(Request<Body>) -> Answer + Send + Sync>;

/// Services by their names. Clones are the same ones.
#[derive(Clone, Default)]
pub struct Services(Arc<Vec<(&'static str, Serve)>>);

impl Services {
    /// None: every call is for an unknown one.
    pub fn none() -> Self {
        Self::default()
    }

    /// These and `service`, a generated server: those are always ready for another call.
    pub fn with<S>(mut self, service: S) -> Self
    where
        S: NamedService
            + Service<Request<Body>, Response = Response<Body>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        let serve = move |request| -> Answer {
            let called = service.clone().call(request);
            Box::pin(async move {
                let Ok(response) = called.await;
                response
            })
        };
        Arc::make_mut(&mut self.0).push((S::NAME, Arc::new(serve)));
        self
    }

    /// Has the service that the path names answer; says so if there is none.
    pub async fn call(&self, request: Request<Body>) -> Response<Body> {
        let path = request.uri().path().trim_start_matches('/');
        let wanted = path.split('/').next().unwrap_or_default();
        match self.0.iter().find(|(name, _)| *name == wanted) {
            Some((_, serve)) => serve(request).await,
            None => Status::unimplemented(format!("unknown service {wanted}")).into_http(),
        }
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, ready};
    use std::task::{Context, Poll};

    use super::*;

    #[derive(Clone)]
    struct One;
    #[derive(Clone)]
    struct Other;

    impl NamedService for One {
        const NAME: &'static str = "a.v1.One";
    }
    impl NamedService for Other {
        const NAME: &'static str = "a.v1.OneMore";
    }

    macro_rules! says {
        ($service:ty) => {
            impl Service<Request<Body>> for $service {
                type Response = Response<Body>;
                type Error = Infallible;
                type Future = Ready<Result<Response<Body>, Infallible>>;

                fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                    Poll::Ready(Ok(()))
                }

                fn call(&mut self, _: Request<Body>) -> Self::Future {
                    ready(Ok(Status::ok(Self::NAME).into_http()))
                }
            }
        };
    }
    says!(One);
    says!(Other);

    async fn said(services: &Services, path: &str) -> (String, String) {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = services.call(request).await;
        let header = |name| {
            let value = response.headers().get(name);
            value.map_or("", |value| value.to_str().unwrap()).to_owned()
        };
        (header("grpc-status"), header("grpc-message").replace("%20", " "))
    }

    #[tokio::test]
    async fn a_call_goes_to_the_service_that_its_path_names() {
        let services = Services::none().with(One).with(Other);
        for (path, status, message) in [
            ("/a.v1.One/Get", "0", "a.v1.One"),
            ("/a.v1.One", "0", "a.v1.One"),
            ("/a.v1.OneMore/Get", "0", "a.v1.OneMore"),
            ("/a.v1.OneMor/Get", "12", "unknown service a.v1.OneMor"),
            ("/a.v1.one/Get", "12", "unknown service a.v1.one"),
            ("/Get/a.v1.One", "12", "unknown service Get"),
            ("/", "12", "unknown service "),
        ] {
            let expected = (status.to_owned(), message.to_owned());
            assert_eq!(said(&services, path).await, expected, "{path}");
        }
        let (status, _) = said(&Services::none(), "/a.v1.One/Get").await;
        assert_eq!(status, "12");
    }

    #[test]
    fn who_looks_at_them_sees_their_names() {
        let services = Services::none().with(One).with(Other);
        assert_eq!(format!("{services:?}"), r#"["a.v1.One", "a.v1.OneMore"]"#);
    }
}
